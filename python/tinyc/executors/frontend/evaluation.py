"""One op of the Frontend layer on arrays."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tinyc.dialects.frontend.ops import FrontendOp
from tinyc.executors.elements import Precision, convert
from tinyc.executors.frontend import (
    activations,
    angles,
    attention,
    bits,
    convolution,
    elementwise,
    exponential,
    indexing,
    movement,
    norms,
    pooling,
    products,
    quantisation,
    random,
    recurrent,
    reductions,
    resize,
    sampling,
    signal,
)
from tinyc.executors.frontend.elementwise import NumpyFunction
from tinyc.vocabulary.attributes import tensor_type

_FILES = (
    elementwise,
    exponential,
    angles,
    activations,
    bits,
    movement,
    indexing,
    products,
    convolution,
    attention,
    reductions,
    norms,
    pooling,
    resize,
    sampling,
    recurrent,
    quantisation,
    random,
    signal,
)


def _functions() -> dict[tuple[str, str | None], NumpyFunction]:
    found: dict[tuple[str, str | None], NumpyFunction] = {}
    for file in _FILES:
        for op, function in file.IN_NUMPY.items():
            choices = function if isinstance(function, Mapping) else {None: function}
            found.update({(op, choice): each for choice, each in choices.items()})
    return found


#: Op and choice of its selector → its function.
NUMPY_FUNCTIONS = _functions()


def evaluate_op(
    op: FrontendOp, arrays: list[np.ndarray], precision: Precision, number: Callable[[Any], Any]
) -> list[np.ndarray]:
    """The results of an op as they are held; `number` gives an attribute with its symbolic extents as numbers."""
    schema, names = op.schema, tuple(op.named_operands)
    attributes = {name: number(value) for name, value in schema.bind(op.values).items()}
    operands: dict[str, np.ndarray | None] = dict.fromkeys(schema.operands)
    for name, array, value in zip(names, arrays, op.operation.operands, strict=True):
        operands[name] = convert(array, precision.arithmetic(tensor_type(value.type).element))
    results = NUMPY_FUNCTIONS[schema.op, schema.choice](*operands.values(), **attributes)
    results = results if isinstance(results, tuple) else (results,)
    elements = [tensor_type(each.type).element for each in op.results]
    return [precision.round(np.asarray(each), element) for each, element in zip(results, elements, strict=True)]
