"""Undefined values: which registers may hold them, how they spread, and what they must not decide.

`assignment` finds the registers to track, `steps` instruments the instructions that touch them, `deciding` has the
arithmetic in which one operand decides, `undefined_memory` the bytes that undefined values were stored to. How they
spread through one instruction is `machine.flow`.
"""
