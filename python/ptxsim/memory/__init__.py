"""The memory of the simulator: byte arrays with a shadow, where each lies in the generic address space, the arguments.

Nothing here knows of instructions, lanes or warps; the engine's `access` goes between them.
"""
