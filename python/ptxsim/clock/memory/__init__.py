"""The memory of a launch: what all resident CTAs read of L2 and of HBM, and what a single SM gets of them.

In: a recorded cluster, the launch, a device. Out: a `MemoryModel`. Reading order:

    requests    what the recorded cluster reads and writes, cut into steps
    offsets     how far from it other clusters do, from the first place of each array that they touch
    l2          lines in two partitions, slices, and what a step finds there
    wave        what all clusters that are resident at the same time ask for in a step
    model       all of that together, wave after wave

What it is not: a model of time. Clusters of a wave are at the same step, and steps do not know how long they take.
"""
