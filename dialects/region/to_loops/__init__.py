"""Region → loops: each kernel becomes a function over memrefs.

In reading order:

    lowering     the pass: the function of a kernel, and which nest it gets (`analysis.loop_nest`)
    loop_elements  elements as a CPU computes them
    turns        the parallel outer loop, and the loops in one turn of it
    held_images  what small windows read, computed once and held
    steps        the nest of the steps that fused loops have, phase by phase
    product_tiles  the nest of a product: tiles of rows and columns, operands packed
    attention_tiles  the nest of attention: tiles of queries, keys tile by tile
    online_softmax  what becomes of scores, key tile by key tile
    operands     elements of operands, and where those are that are read in place
    packing      what the micro-kernel reads of an operand, in the order in which it reads it
    boxes        the same of a convolution: boxes of places that windows share
    packed_words  words of neighbours along the sum, which some CPUs multiply at once
    micro_kernel  the sums of a product that are in registers, in vectors
    tile_kernel  the same in the tile registers of AMX
    loop_hints   what LLVM is asked to do with loops
    axis_values  an index from the axes that loops run over, and back
    lanes        the reduction of one result in lanes
    known_extents  which index values are extents
    index_loads  indices from data, loaded in front of the loops in which they do not change
    splits       loops split where a guard changes, and where the last vector of a row begins
    nests        the other nests: scan, scatter, top-k, and inlined; an element's code is `tinyc.codegen`
"""
