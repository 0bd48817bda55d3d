"""What Tiny programs are made of, as plain data: the layer's types, ops and typing rules, without IR.

In reading order:

    element_type      the element types, a row each
    types             tensor types
    elementwise       the element-wise ops, a row each
    reductions        what `reduce` applies
    infer             the typing rules of all ops
    broadcast         how what an epilogue reads follows its tile
    alignment         where buffers may begin
    mapped_file       elements in a file, which are read when they are needed
    elements          tensors as attributes, small ones in the text, large ones beside it
    attributes        between this and MLIR's types and attributes: with `elements` and `guards` what needs MLIR here
    guards            relations between extents at which a kernel takes another's place, as attributes
    run_key           what makes the random numbers of a run
    deferred          how the rows name numpy and MLIR without importing them

It imports `tinyc.expr` and `tinyc.diagnostics`, and is looked down on by everything else: the dialect's ops, the
analyses, the executors, the importers and the runtime.
"""
