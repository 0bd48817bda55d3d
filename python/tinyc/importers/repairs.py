"""The two repairs that Tiny JSON allows for operands that are not of one type: expand size-1 axes, widen to fp32.

In: the operands of an element-wise node, values or immediate numbers. Out: values of equal type as far as these two
repairs and constants for the immediates can make them; what they cannot mend is for the typing rule to refuse. Each
repair emits a remark.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.diagnostics import TinycError, Where, remark
from tinyc.expr.extents import Dim
from tinyc.formulas.steps import Steps
from tinyc.vocabulary.element_type import ElementType

_Shape = tuple[Dim, ...]


@dataclass(frozen=True)
class Immediate:
    """A number that stands among the sources of a node."""

    value: bool | int | float


def align_operands(steps: Steps, operands: Sequence[int | Immediate], where: Where) -> list[int]:
    """Operands that a node computes with as values of one shape and element type.

    Raises:
        TinycError: `InvalidAttribute` where no operand says what type an immediate has.
    """
    values = [operand for operand in operands if not isinstance(operand, Immediate)]
    if not values:
        raise TinycError("InvalidAttribute", "an immediate number needs a value beside it that gives it its type")
    element = _common_element([steps.types[value].element for value in values])
    if element:
        values = [_widened(steps, value, element, where) for value in values]
    values = same_shape(steps, values, where)
    rest = iter(values)
    return [
        _constant(steps, operand, values[0], where) if isinstance(operand, Immediate) else next(rest)
        for operand in operands
    ]


def same_shape(steps: Steps, values: Sequence[int], where: Where) -> list[int]:
    """Values of equal rank with their size-1 axes expanded to each other's extents."""
    shape = _common_shape([steps.types[value].shape for value in values])
    return list(values) if shape is None else [_expanded(steps, value, shape, where) for value in values]


def _common_element(elements: Sequence[ElementType]) -> ElementType | None:
    """The type that fp16 or bf16 beside fp32 are widened to."""
    narrow = set(elements) - {ElementType.F32}
    widens = len(narrow) == 1 and ElementType.F32 in elements and narrow.pop().is_small_float
    return ElementType.F32 if widens else None


def _common_shape(shapes: Sequence[_Shape]) -> _Shape | None:
    """The shape that size-1 axes of equal rank expand to, or None where nothing has to be or can be expanded."""
    if all(shape == shapes[0] for shape in shapes) or len({len(shape) for shape in shapes}) > 1:
        return None
    common = tuple(next((extent for extent in axis if extent != 1), 1) for axis in zip(*shapes, strict=True))
    fits = all(extent in (1, wanted) for shape in shapes for extent, wanted in zip(shape, common, strict=True))
    return common if fits else None


def _constant(steps: Steps, immediate: Immediate, beside: int, where: Where) -> int:
    tensor = steps.types[beside]
    require_value_of(immediate.value, tensor.element)
    return steps.constant(immediate.value, tensor, where)


def require_value_of(value: bool | int | float, element: ElementType) -> None:
    """Raise `DtypeMismatch` for true or false where a number belongs."""
    if isinstance(value, bool) and not element.is_bool:
        raise TinycError("DtypeMismatch", f"{str(value).lower()} is not a value of {element.json_name}; write a number")


def _widened(steps: Steps, value: int, element: ElementType, where: Where) -> int:
    tensor = steps.types[value]
    if tensor.element == element:
        return value
    wide, narrow = element.json_name, tensor.element.json_name
    remark("operand-widened", where, f"an operand is widened from {narrow} to {wide}", source=narrow, target=wide)
    return steps.cast(value, element, where)


def _expanded(steps: Steps, value: int, shape: _Shape, where: Where) -> int:
    tensor = steps.types[value]
    if tensor.shape == shape:
        return value
    source, target = [str(extent) for extent in tensor.shape], [str(extent) for extent in shape]
    message = f"an operand is expanded from [{', '.join(source)}] to [{', '.join(target)}]"
    remark("broadcast-inserted", where, message, source=source, target=target)
    arguments = {"shape": shape, "broadcast_dimensions": tuple(range(len(shape)))}
    return steps.add("expand", (value,), arguments, where)
