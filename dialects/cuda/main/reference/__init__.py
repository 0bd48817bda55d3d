"""The same kernel as one sequential function of the host: what a CUDA file checks its kernel against.

It has no tiles: it computes the outputs one element after the other, and a sum takes its terms in the kernel's order.
Reading order:

    function       the function, with the kernel's arguments, and in it each statement that writes outputs
    product        a matrix product: what it multiplies, found from the accumulator that an epilogue finishes
    partial_sums   the sum of a product that another kernel finishes
    epilogue, epilogue_slab
                   the sum of the product, or what has been left of it, and what is made of it
    map, topk, scatter_add
                   the other statements that write outputs, `compute(elements, op)`
    map_runs, transpose, scan_rows
                   the same as `map`: they differ in how threads share the elements
    reduce_rows    each reduction of a row once, and what is made of them
"""
