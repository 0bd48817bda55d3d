"""Typing of the data-dependent ops: the index is a tensor, so the element that is read is not an affine function."""

from tinyc.diagnostics import TinycError
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.elementwise.row import NUMBERS
from tinyc.vocabulary.infer.rule import (
    Arguments,
    Inferred,
    Operands,
    Rule,
    require_axes,
    require_kind,
    require_le,
    typed,
)
from tinyc.vocabulary.types import TensorType


def _gather(operands: Operands, arguments: Arguments) -> Inferred:
    (data, index), axis = operands, arguments["axis"]
    _require_index(data, index, axis)
    return typed(data.element, (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :]))


def _require_index(data: TensorType, index: TensorType, axis: int) -> None:
    if index.element not in (ElementType.I32, ElementType.I64):
        raise TinycError("DtypeMismatch", f"the index is {index.element.json_name}; cast it to i32 or i64")
    if not 0 <= axis < data.rank:
        raise TinycError("InvalidAxis", f"axis {axis} is not an axis of {data}, which has rank {data.rank}")


def _scatter(operands: Operands, arguments: Arguments) -> Inferred:
    (data, index, updates), axis, op = operands, arguments["axis"], arguments["op"]
    _require_index(data, index, axis)
    if op not in ("set", "add"):
        raise TinycError("InvalidAttribute", f"the op of a scatter {op!r} is not set or add")
    if op == "add":
        require_kind(data, NUMBERS)
    wanted = TensorType(data.element, (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :]))
    if updates != wanted:
        name = "DtypeMismatch" if updates.element != data.element else "AxisSizeMismatch"
        raise TinycError(name, f"the updates of a scatter along axis {axis} must be {wanted}, and are {updates}")
    return Inferred((data,))


def _topk(operands: Operands, arguments: Arguments) -> Inferred:
    (source,) = operands
    k: int = arguments["k"]
    axis: int = arguments["axis"]
    require_axes(source, [axis])
    require_kind(source, NUMBERS)
    if k < 0:
        raise TinycError("InvalidAttribute", f"k = {k} is negative")

    def error() -> TinycError:
        return TinycError("IndexOutOfBounds", f"k = {k} is larger than axis {axis} of {source}")

    assumptions = require_le(k, source.shape[axis], error)
    shape = (*source.shape[:axis], k, *source.shape[axis + 1 :])
    return Inferred((TensorType(source.element, shape), TensorType(ElementType.I64, shape)), tuple(assumptions))


RULES: dict[str, Rule] = {"gather": _gather, "scatter": _scatter, "topk": _topk}
