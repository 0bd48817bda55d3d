"""One op of the Frontend layer on arrays."""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np

from tinyc.dialects.frontend.ops import FrontendOp
from tinyc.executors.elements import Precision, convert
from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.formulas.registry import FAMILIES
from tinyc.formulas.schema import by_choice
from tinyc.vocabulary.attributes import tensor_type


def _table(family: ModuleType) -> NumpyFunctions:
    """The functions of a family of formulas: those of the module here that has its name."""
    name = family.__name__.rpartition(".")[2]
    return import_module(f"{__package__}.{name}").IN_NUMPY


#: Op and choice of its selector → its function.
NUMPY_FUNCTIONS = {(op, choice): function for op, choice, function in by_choice(map(_table, FAMILIES))}


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
