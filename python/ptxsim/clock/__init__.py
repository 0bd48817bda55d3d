"""The clock: how long a kernel would take on a GPU, from its run on the simulator and the SASS that ptxas makes of it.

Some clusters of the full launch run on the simulator and are recorded; their warps are replayed, instruction by
instruction of their SASS (or of their PTX, by weights, where there is no ptxas), on a model of the SMs that they are
resident on; what one round of CTAs takes is carried over to the grid. Reading order:

    devices         what a GPU does in a cycle, and how that is known
    kernel_launch   what is timed: a kernel, its grid, its arguments
    recording/      what warps did
    sass/           PTX → SASS with lines, control codes and costs
    replay/         when they would have done it
    kernel_code     a kernel as the replay takes it: operations, streams, FLOPs
    live_registers  registers of a thread where no ptxas tells them
    weighed_code    a kernel from its PTX alone, where there is no ptxas
    occupancy       how many CTAs an SM holds
    memory/         what L2 and HBM give to all clusters that run at once
    grid            which clusters the SMs get, and from those that are replayed to all
    power           the clock that is kept up
    uncertainty     how far an estimate may be off, and what the model is not good for
    estimate        what is told of a launch's time
    code_source     which of both a time is made of; one estimate of three
    timing          all of that together: a `KernelLaunch` in, an `Estimate` out
    report/         what people and tools read of it: text, JSON, timelines, charts
    ranking/        which of several kernels would be the fastest
"""
