"""Data races by happens-before: vector clocks of threads, shadows of memory, messages through memory, copies in flight.

Source: PTX ISA, "Memory Consistency Model". The files, in reading order:

    stamp, shadow    an access in one number; the last accesses of every granule
    clocks           what the threads of a cluster know of each other
    release_state, messages   what fences have prepared; what a release leaves in memory, and who picks it up
    observations     which strong writes of a word a strong read has seen
    accesses         accesses under examination, and their findings
    history          events by their times, and the shadows of memories
    map_fences       which writes of tensor maps copies see
    operations, copies        asynchronous operations by number; the same against everything else
    detector         `Races`, the observer that is told of everything
"""
