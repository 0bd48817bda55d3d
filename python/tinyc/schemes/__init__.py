"""Schemes: the kinds of kernels that tinyc builds, a folder each.

A scheme says which kernels it can build (a `Candidate`, a target → yes with an estimate of its resources, or the reason
why not), which fields of a plan it takes and what their defaults are, and writes the kernel. Nothing but its folder and
the lists `names` and `registry` names it.

In reading order:

    names                 what a plan may call a scheme: the plan format's list
    search                what a scheme's search for a plan has judged
    scheme                what a scheme is: the interface
    neighbours, rows      what several of them share: runs of neighbours, rows of fused loops
    shared_operands       what all rows of a CTA read, in shared memory
    contraction           fields of plans that schemes for contractions judge alike
    mma, naive, row_reduce, scan, elementwise, generic
                          the schemes: what each accepts, its rules for plans, its builder
    cpu                   what is built on a CPU: loops, of four kinds
    registry              those that there are, the most particular first
    completion            a plan against a candidate and a target: every refusal at once, or all decisions made

Only a folder's `build` imports the bindings of MLIR and dialects; it is imported when the first kernel is built.
"""
