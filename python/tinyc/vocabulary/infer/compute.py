"""Typing of `reduce` and of the leaves."""

from tinyc.diagnostics import TinycError
from tinyc.vocabulary.infer.rule import Arguments, Inferred, Operands, Rule, check_constant, listed, require_axes, typed


def _reduce(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), op, axes, element = operands, arguments["op"], arguments["axes"], arguments["element"]
    if op not in ("sum", "max", "min", "prod"):
        raise TinycError("InvalidAttribute", f"the reduction {op!r} is not one of sum, max, min, prod")
    require_axes(source, axes)
    if source.element.is_float and not element.is_float:
        raise TinycError(
            "DtypeMismatch",
            f"cannot accumulate {source.element.json_name} in {element.json_name}; cast the operand first",
        )
    if element.is_bool and (op in ("sum", "prod") or not source.element.is_bool):
        raise TinycError("DtypeMismatch", f"cannot accumulate the {op} of {source.element.json_name} in bool; use i32")
    return typed(element, [extent for axis, extent in enumerate(source.shape) if axis not in axes])


def _const(operands: Operands, arguments: Arguments) -> Inferred:
    value, element, shape = arguments["value"], arguments["element"], arguments["shape"]
    if isinstance(value, bool | int | float):
        check_constant(value, element)
    elif (value.dtype, value.shape) != (element.dtype, tuple(shape)):
        raise TinycError(
            "DtypeMismatch",
            f"the constant's elements are {value.dtype} {listed(value.shape)}, and its type is {element} "
            f"{listed(shape)}; give them one type, of known extents",
        )
    return typed(element, shape)


def _iota(operands: Operands, arguments: Arguments) -> Inferred:
    shape, axis, element = arguments["shape"], arguments["axis"], arguments["element"]
    if not 0 <= axis < len(shape):
        raise TinycError("InvalidAxis", f"the iota's axis {axis} is not an axis of {listed(shape)}")
    if element.is_bool:
        raise TinycError("DtypeMismatch", "an iota counts in numbers, not in bool; use i32 and cast it")
    extent = shape[axis]
    if element.is_integer and isinstance(extent, int) and extent - 1 > element.integer_range[1]:
        raise TinycError("DtypeMismatch", f"an iota over {extent} does not fit {element.json_name}; use a wider type")
    return typed(element, shape)


def _rand(operands: Operands, arguments: Arguments) -> Inferred:
    if not arguments["element"].is_float:
        raise TinycError("DtypeMismatch", f"random numbers are floats, not {arguments['element'].json_name}; cast them")
    if arguments["distribution"] not in ("uniform", "normal"):
        raise TinycError(
            "InvalidAttribute", f"the distribution {arguments['distribution']!r} is not 'uniform' or 'normal'"
        )
    return typed(arguments["element"], arguments["shape"])


RULES: dict[str, Rule] = {"reduce": _reduce, "const": _const, "iota": _iota, "rand": _rand}
