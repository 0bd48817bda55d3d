"""Recordings: what the warps of some clusters did in a launch on the simulator.

In: a launch that is observed. Out: a `Recording`, plain data. Reading order:

    trace         the data: runs, events, copies
    warp_record   one warp's runs and events, put in order
    recorder      the observer
"""
