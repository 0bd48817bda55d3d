"""Code for one element of a tensor in upstream arith, math, scf and memref: what loops and GPU kernels are made of.

In reading order:

    scalars                an element in registers and in memory; element-wise ops, casts, steps of reductions
    index_code             sizes, offsets and positions
    once, words            code that is emitted once; index arithmetic in 32 bits
    philox                 random numbers
    identifiers            names as PTX and C++ take them
    reduction_steps        where a reduction starts, and what it runs over
    counters               index values as expressions over counters
    places                 where elements of dense buffers are
    elements               an element of any value, by the access maps and the ops above it
    scatter_update, top_k  one update of a scatter, one row of a top-k
    software_math          mathematical functions as arithmetic
"""
