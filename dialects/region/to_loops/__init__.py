"""Region → loops: each kernel becomes a function over memrefs.

In reading order:

    lowering    the pass: the function of a kernel, and which nest it gets
    nests       the loop nests: pointwise, reduction, scan, scatter and top-k; an element's code is `tinyc.codegen`
"""
