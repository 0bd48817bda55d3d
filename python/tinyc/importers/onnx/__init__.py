"""ONNX models as Frontend programs, by the `onnx` package (the extra `tinyc[onnx]`).

Shapes are inferred as the ops are added, with symbols for dynamic axes; subgraphs of shapes are evaluated at import.
Every node that is not supported is reported at once.

In reading order:

    attributes   element types, attributes and small tensors as Python has them
    values       what a value of a graph is: computed when the model runs, or known before
    model_file   the model: a file, bytes or a `ModelProto`, and the tensors that lie beside it
    program      the program in the making
    node         one node as its handler sees it
    folding_movements  movements of what is known
    folding      what is known before the model runs
    handlers     a handler for each op type
    schemas      what ONNX says of its op types: opsets, what a node may have, functions in place of ops
    scope        the names of one graph
    order        the nodes of a graph, each behind those that it reads
    importer     one node after another: folded, handled, or what it is made of in its place
    boundary     inputs, symbols, values that are fixed, declared shapes
    graph        all nodes of a model
    patterns     what exporters write out, as the op that it is
    naming       what the values of the program are called
    emit         the program as IR
    model        all of it: `import_model`
"""
