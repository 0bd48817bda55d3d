"""The CUDA text of the scalar level's own ops: a call of a function, which the file then has.

`text(printer, op)` is a statement; of an op that only computes, `expression(printer, op)` stands where it is used.

`CALLED_FUNCTIONS` of each file are the C++ functions that it calls. In reading order:

    load_vector, store_vector, atomic_add, report_index
                              the ops that kernels without tensor cores have
    address, map_address, instruction
                              those of tensor cores
"""
