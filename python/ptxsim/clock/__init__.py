"""The clock: how long a kernel would take on a GPU, from its run on the simulator and the SASS that ptxas makes of it.

Some clusters of the full launch run on the simulator and are recorded; their warps are replayed, instruction by
instruction of their SASS, on a model of the SMs that they are resident on; what one round of CTAs takes is carried over
to the grid. Nothing is fitted. What is not modelled yet: L2 by lines and partitions (every byte of the arrays misses it
once, the rest hits), the order of tiles, the clock under power. Reading order:

    devices      what a GPU does in a cycle, and how that is known
    sass/        PTX → SASS with lines, control codes and costs
    recording/   what warps did
    replay/      when they would have done it
    memory/      what all of them read of L2 and HBM (not asked by the replay yet)
    occupancy    how many CTAs an SM holds
    timing       all of that together: an `Estimate`
"""
