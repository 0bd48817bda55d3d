"""The CUDA text of the scalar level's own ops, `text(printer, op)`: a call of a function, which the file then has.

`CALLED_FUNCTIONS` of each file are the C++ functions that it calls.
"""
