"""Typing of the data-dependent ops: the index is a tensor, so the element that is read is not an affine function."""

from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.infer.rule import (
    Arguments,
    Inferred,
    Operands,
    Rule,
    is_number,
    require_axes,
    require_kind,
    require_le,
    typed,
)
from tinyc.dialects.tiny.types import DTYPE_NAMES, TensorType


def _gather(operands: Operands, arguments: Arguments) -> Inferred:
    (data, index), axis = operands, arguments["axis"]
    _require_index(data, index, axis)
    return typed(data.element, (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :]))


def _require_index(data: TensorType, index: TensorType, axis: int) -> None:
    if index.element not in ("i32", "i64"):
        raise TinycError("DtypeMismatch", f"the index is {DTYPE_NAMES[index.element]}; CAST it to i32 or i64")
    if not 0 <= axis < data.rank:
        raise TinycError("InvalidAxis", f"axis {axis} is not an axis of {data}, which has rank {data.rank}")


def _scatter(operands: Operands, arguments: Arguments) -> Inferred:
    (data, index, updates), axis, op = operands, arguments["axis"], arguments["op"]
    _require_index(data, index, axis)
    if op not in ("set", "add"):
        raise TinycError("InvalidAttribute", f"SCATTER op {op!r} is not SET or ADD")
    if op == "add":
        require_kind(data, "numbers", is_number)
    wanted = TensorType(data.element, (*data.shape[:axis], *index.shape, *data.shape[axis + 1 :]))
    if updates != wanted:
        name = "DtypeMismatch" if updates.element != data.element else "AxisSizeMismatch"
        raise TinycError(name, f"the updates of SCATTER along axis {axis} must be {wanted}, and are {updates}")
    return Inferred((data,))


def _topk(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), k, axis = operands, arguments["k"], arguments["axis"]
    require_axes(source, [axis])
    require_kind(source, "numbers", is_number)
    if k < 0:
        raise TinycError("InvalidAttribute", f"TOPK k = {k} is negative")

    def error() -> TinycError:
        return TinycError("IndexOutOfBounds", f"TOPK k = {k} is larger than axis {axis} of {source}")

    assumptions = require_le(k, source.shape[axis], error)
    shape = (*source.shape[:axis], k, *source.shape[axis + 1 :])
    return Inferred((TensorType(source.element, shape), TensorType("i64", shape)), tuple(assumptions))


RULES: dict[str, Rule] = {"gather": _gather, "scatter": _scatter, "topk": _topk}
