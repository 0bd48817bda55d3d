"""The memory of a launch: what all resident CTAs read of L2 and of HBM, and what a single SM gets of them.

In: a recorded cluster, the launch, a device. Out: a `MemoryModel`. Reading order:

    requests    what the recorded cluster reads and writes, cut into steps
    offsets     how far from it other clusters do, from the first place of each array that they touch
    l2          lines in two partitions, slices, and what a step finds there
    rounds      what all clusters that are resident at the same time ask for in a step
    drift       rounds after the first one, whose clusters are not at the same step any more
    model       all of that together, round after round

What it is not: a model of time. Steps do not know how long they take; how far clusters drift apart is assumed. Neither
are rates of HBM by pages and banks, of what goes between the partitions, nor L1 in it.
"""
