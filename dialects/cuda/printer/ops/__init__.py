"""The CUDA text of the scalar level's own ops, `text(printer, op)`: a call of a function, which the file then has.

`CALLED_FUNCTIONS` of each file are the C++ functions that it calls. In reading order:

    load_vector, store_vector, atomic_add, report_index
                              the ops that kernels without tensor cores have
    address, map_address, instruction
                              those of tensor cores: refused so far
"""
