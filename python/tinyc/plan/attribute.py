"""The plan as an attribute: `plan = {stages = 2 : i64, tile = array<i64: 64, 64, 32>}` on a `region.kernel`.

In: a `Plan`. Out: an `ir.DictAttr` in the current context; and back. A list of integers is an
`array<i64>`, any other list an array of attributes. What is wrong with an attribute is an error at the place of its op.
"""

from typing import Any, TypeGuard

from tinyc.diagnostics import TinycError, Where
from tinyc.mlir import ir
from tinyc.plan.fields import Plan, plan_of_values
from tinyc.plan.kinds import Path, is_list, is_object, spelt

_WIDEST = 64


def plan_attribute(plan: Plan) -> ir.DictAttr:
    """The dictionary attribute of a plan."""
    return ir.DictAttr.get({key: _encoded(each) for key, each in plan.values().items()})


def plan_of_attribute(attribute: ir.Attribute, where: Where | None = None) -> Plan:
    """The plan that an attribute means; `where` is the place of the op that has it.

    Raises:
        TinycError: `InvalidPlan`, one for each problem.
    """
    where = where or Where()
    try:
        values = _decoded(attribute, (), where)
    except RuntimeError:  # of the bindings: a text attribute may have any bytes
        raise TinycError("InvalidPlan", f"a text in {attribute} is not UTF-8", where) from None
    return plan_of_values(values, where=where)


def _encoded(value: object) -> ir.Attribute:
    if is_object(value):
        return ir.DictAttr.get({key: _encoded(each) for key, each in value.items()})
    if is_list(value):
        if value and all(type(each) is int for each in value):
            return ir.DenseI64ArrayAttr.get(list(value))
        return ir.ArrayAttr.get([_encoded(each) for each in value])
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(_WIDEST), value)
    return ir.StringAttr.get(str(value))


def _decoded(attribute: ir.Attribute, path: Path, where: Where) -> Any:
    """An attribute as the JSON value that it means; `path` is the way to it."""
    if isinstance(attribute, ir.DictAttr):
        return {each.name: _decoded(each.attr, (*path, each.name), where) for each in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [_decoded(each, (*path, position), where) for position, each in enumerate(attribute)]
    if isinstance(attribute, ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.BoolAttr | ir.StringAttr) or _is_integer(attribute):
        return attribute.value
    allowed = f"integers of at most {_WIDEST} bits, booleans, texts, lists and dictionaries"
    message = f"{spelt(path or ('plan',))} is the attribute {attribute}; a plan is made of {allowed}"
    raise TinycError("InvalidPlan", message, where)


def _is_integer(attribute: ir.Attribute) -> TypeGuard[ir.IntegerAttr]:
    """Whether the bindings can read the integer: a wider one ends the process."""
    if not isinstance(attribute, ir.IntegerAttr):
        return False
    return not isinstance(attribute.type, ir.IntegerType) or attribute.type.width <= _WIDEST
