"""Typing of the element-wise ops: equal shapes, equal element types (001 §3, rules 1 and 2), no cast but `cast`."""

import functools

from tinyc.diagnostics import TinycError
from tinyc.vocabulary.elementwise import ROWS
from tinyc.vocabulary.elementwise.row import Elementwise
from tinyc.vocabulary.infer.rule import Arguments, Inferred, Operands, Rule, require_kind, require_same, typed
from tinyc.vocabulary.types import TensorType


def _like_its_operands(row: Elementwise, operands: Operands, arguments: Arguments) -> Inferred:
    for other in operands[1:]:
        require_same(operands[0], other)
    require_kind(operands[0], row.accepts)
    return Inferred((operands[0],)) if row.gives is None else typed(row.gives, operands[0].shape)


def _where(operands: Operands, arguments: Arguments) -> Inferred:
    condition, if_true, if_false = operands
    if not condition.element.is_bool:
        raise TinycError("DtypeMismatch", f"the condition is {condition.element.json_name}, not bool; cast it")
    require_same(if_true, if_false)
    require_same(TensorType(if_true.element, condition.shape), if_true)
    return Inferred((if_true,))


def _cast(operands: Operands, arguments: Arguments) -> Inferred:
    return typed(arguments["element"], operands[0].shape)


RULES: dict[str, Rule] = {
    **{name: functools.partial(_like_its_operands, row) for name, row in ROWS.items()},
    "where": _where,
    "cast": _cast,
}
