"""The clock: how long a kernel would take on a GPU, from its run on the simulator and the SASS that ptxas makes of it.

Some clusters of the full launch run on the simulator and are recorded; their warps are replayed, instruction by
instruction of their SASS, on a model of the SMs that they are resident on; what one round of CTAs takes is carried over
to the grid. Reading order:

    devices      what a GPU does in a cycle, and how that is known
    sass/        PTX → SASS with lines, control codes and costs
    recording/   what warps did
    replay/      when they would have done it
    kernel_launch  what is timed: a kernel, its grid, its arguments
    kernel_code  a kernel as the replay takes it: operations, streams, FLOPs
    occupancy    how many CTAs an SM holds
    memory/      what L2 and HBM give to all clusters that run at once
    grid         which clusters the SMs get, and from those that are replayed to all
    power        the clock that is kept up
    uncertainty  how far an estimate may be off, and what the model is not good for
    estimate     what is told of a launch's time
    timing       all of that together: a `KernelLaunch` in, an `Estimate` out
    report/      what people and tools read of it: text, JSON, timelines, charts
    ranking/     which of several kernels would be the fastest
"""
