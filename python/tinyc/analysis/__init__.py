"""Analyses: IR in, frozen data out. They import no pass and change no IR.

In reading order:

    extents, extent_parser, factors, assumption           symbolic sizes, and what has to hold of them
    shape_equation, equations                             what follows where two shapes have as many elements
    axes, index_map, index_range                          index expressions over axes; those of a `VIEW`, as written
    tiny_ops, graphs, preconditions                       ops and functions of the Tiny layer
    movement, limits, access                              what a movement reads, and a chain of them
    index_book                                            the IndexBook
    patterns                                              which pattern a reduce is of, and why it is of no other
    isl                                                   statements in isl's notation and as isl's objects
    poly                                                  the Poly-View
    poly_core                                             what can be fused, where, and at what price
    grouping, buffers, tiled_reduction                    which ops share a kernel, what is in memory
    activation, epilogue, arena                           what a kernel does after a sum, where buffers lie
    gpu_symbols, host_names                               what kernels and their arguments are called
"""
