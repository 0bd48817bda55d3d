"""ONNX models as Frontend programs, by the `onnx` package (the extra `tinyc[onnx]`).

Shapes are inferred as the ops are added, with symbols for dynamic axes; subgraphs of shapes are evaluated at import.
Every node that is not supported is reported at once.

In reading order:

    attributes   element types, attributes and small tensors as Python has them
    model_file   the model: a file, bytes or a `ModelProto`, and the tensors that lie beside it
    values       what a value of a graph is: computed when the model runs, or known before
    program      the program in the making
    node         one node as its handler sees it
    folding_movements  movements of what is known
    folding      what is known before the model runs
    handlers     a handler for each op type
    graph        all nodes of a model, one after another
    emit         the program as IR
    model        all of it: `import_model`
"""
