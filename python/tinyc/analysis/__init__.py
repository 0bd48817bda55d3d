"""Analyses: IR in, frozen data out. They import no pass and change no IR.

They know the vocabulary of Tiny and the op classes of Tiny and Region; passes, lowerings, executors and `explain` ask
them. In reading order:

    tiny_ops, graphs                     ops and functions of the Tiny layer
    preconditions, host_names            what a program takes for granted, and what its tensors are called
    indexed_axes                         which axes an input is an index into
    movement, limits, access             what a movement reads, and a chain of them
    strided_access                       accesses whose elements are at regular distances in memory
    index_book                           the IndexBook: the axes of each value, and what it reads along them
    patterns                             which pattern a reduce is of, and why it is of no other
    isl                                  statements in isl's notation and as isl's objects
    poly                                 the Poly-View: statements with domains, accesses and dependences
    poly_core                            legality, footprints and halos of fusion, by closed forms first
    kernel_loops, transposition          the loops and phases of a kernel, and what lies across them in memory
    cpu_form                             which form these loops have on a CPU: formation and code both ask it
    contiguous_loops                     which of them go along memory together, where rows lie beside each other
    activation                           the function that ops behind a reduction spell
    product_choices                      what a plan and a CPU ask of a product
    product_reads                        which operands of a product are read as they lie in memory
    elementwise_reads                    what an element is computed from where nothing but elements is in between
    tile_sides, window_box               the lines of a tile, and the places that windows of several of them share
    held_image                           what small windows share of an operand, which a step holds
    cpu_steps, cpu_product, cpu_attention  how the steps of a kernel, a product, or attention run on a CPU
    product_cost, product_search         the predicted time of a product in tiles, and the tiles that there are
    loop_choices                         what a plan decides of loops
    judged_products, planned_tiles       the tiles of a product and of attention: as a plan says, else the fastest
    loop_nest                            how the loops of a kernel nest there
    result_places                        where in its results an accumulated element stands
    product_accesses                     where the operands and results of a product are in memory, if at regular places
    epilogue, local_edges                what a kernel does after a sum, and where it keeps a sum until then
    in_place                             which operand of a kernel its result may take the place of
    candidate, kernel_candidate          what a scheme is asked about
    winograd                             convolutions that Winograd's algorithm computes, and its error
    arena                                where buffers lie
"""
