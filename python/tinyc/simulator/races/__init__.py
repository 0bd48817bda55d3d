"""Data races by happens-before: vector clocks of threads, shadows of memory, messages through memory, copies in flight.

`detector.Races` is the engine's observer; the rest is what it is made of. Source: PTX ISA, "Memory Consistency Model".
"""
