"""Detection: from a `tiny.reduce` to its contraction, or to the reason why it is none."""

from dataclasses import replace
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.access import Access, DimAxes, extend, identity, is_movement, shape_of
from tinyc.analysis.axis import Axis, Shape
from tinyc.analysis.axis_arguments import axis_arguments
from tinyc.analysis.contraction.digits import Digits, split
from tinyc.analysis.contraction.pattern import Contraction, axes_of
from tinyc.analysis.contraction.roles import Roles, classify, with_unit_axes
from tinyc.analysis.contraction.windows import Window, windows
from tinyc.analysis.rejection import NoPattern, Reason, Rejected
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import FLOATS, SIGNED, UNSIGNED, bits

_SIDES = {"lhs": "left", "rhs": "right"}


def detect(reduce: Any, dims: DimAxes | None = None) -> Contraction | Rejected:
    """Return the contraction that a `tiny.reduce` is, seen through movements and widening casts.

    With `dims`, it is one over the axes that the dimensions of the values are split into.
    """
    try:
        return _detect(reduce.operation, dims)
    except NoPattern as error:
        return error.rejected


def _detect(reduce: Any, dims: DimAxes | None) -> Contraction:
    values, domain = reduction(reduce, dims), shape_of(reduce.operands[0], dims)
    if values["op"] != "sum":
        raise NoPattern(Reason.NOT_A_SUM, f"the reduction is a {values['op']}, not a sum")
    product = _product(reduce, domain, dims)
    multiply = product.source.owner.operation
    # A fault below an operand is no obstacle: the access then ends at the result of the op at fault.
    operands = (replace(product, source=operand) for operand in multiply.operands)
    lhs, rhs = (extend(operand, domain, _is_transparent, dims)[0] for operand in operands)
    digits = split(domain, (lhs, rhs))
    try:
        roles, found = _analysed(digits, lhs, rhs, values["axes"])
    except NoPattern as error:
        raise _about_joint_axes(error, digits, {"lhs": lhs, "rhs": rhs}) from None
    return Contraction(reduce, multiply, lhs, rhs, domain, values["axes"], digits, roles, found)


def reduction(reduce: Any, dims: DimAxes | None) -> dict[str, Any]:
    """Return the arguments of a `tiny.reduce`, its axes being those that the dimensions are split into."""
    values, operation = arguments(reduce), reduce.operation
    if dims is None:
        return values
    return axis_arguments("reduce", values, dims(operation.operands[0]), dims(operation.results[0]))


def _product(reduce: Any, domain: Shape, dims: DimAxes | None) -> Access:
    """Return how the reduce reads the result of the `tiny.mul` that only it reads."""
    product, fault = extend(Access(reduce.operands[0], identity(domain)), domain, _is_private_movement, dims)
    if fault is not None:
        raise NoPattern(Reason.NOT_AFFINE, fault.reason)
    multiply = getattr(product.source.owner, "operation", None)
    if multiply is None or multiply.name != "tiny.mul":
        raise NoPattern(Reason.NO_PRODUCT, "the operand is no product")
    if not _used_once(product.source):
        raise NoPattern(Reason.SHARED_PRODUCT, "the product has other uses")
    return product


def is_summed_product(reduce: Any) -> bool:
    """Say whether a `tiny.reduce` is a sum of products that nothing else reads.

    Such products are formed in the accumulator's type, in every executor (`spec/tiny-json.md`, Arithmetic).
    """
    (operand,) = reduce.operation.operands
    producer = getattr(operand.owner, "operation", None)
    return (
        arguments(reduce)["op"] == "sum"
        and producer is not None
        and producer.name == "tiny.mul"
        and _used_once(operand)
    )


def _used_once(value: Any) -> bool:
    return len(list(value.uses)) == 1


def _is_private_movement(op: Any) -> bool:
    return is_movement(op) and _used_once(op.results[0])


def _is_transparent(op: Any) -> bool:
    """Say whether an operand is seen through `op`: a movement, or a cast that changes no value."""
    return is_movement(op) or (op.name == "tiny.cast" and is_widening(op))


def is_widening(cast: Any) -> bool:
    """Say whether a `tiny.cast` keeps every value: to the same type, a wider one of its kind, or unsigned to signed."""
    before, after = tensor_type(cast.operands[0].type).element, tensor_type(cast.results[0].type).element
    if before == after:
        return True
    if {before, after} <= set(FLOATS) or {before, after} <= set(SIGNED):
        return bits(before) < bits(after)
    return before in UNSIGNED and after in (*SIGNED, *UNSIGNED) and bits(before) < bits(after)


def _analysed(digits: Digits, lhs: Access, rhs: Access, reduced: tuple[int, ...]) -> tuple[Roles, tuple[Window, ...]]:
    """Return the roles of the digits and the windows of the operands."""
    lhs, rhs = digits.rewrite(lhs), digits.rewrite(rhs)
    if lhs == rhs:
        raise NoPattern(Reason.SQUARE, "both operands are the same elements: a sum of squares")
    for name, access in (("lhs", lhs), ("rhs", rhs)):
        _require_plain(name, access)
    summed = tuple(digit for axis in reduced for digit in digits.of[axis])
    own = classify(axes_of(lhs), axes_of(rhs), summed, digits.shape)
    found = (
        *windows("lhs", lhs, own.m, own.k, digits.shape),
        *windows("rhs", rhs, own.n, own.k, digits.shape),
    )
    if len({window.operand for window in found}) > 1:
        rows = tuple((window.operand, window.row) for window in found)
        raise NoPattern(Reason.WINDOWS_IN_BOTH, "both operands have windows", rows=rows)
    # One filter for each channel stays depthwise, also where there is one image.
    depthwise = bool(found and own.batch and not (own.n if found[0].operand == "lhs" else own.m))
    roles = with_unit_axes(own, summed, digits.shape, stand_in=not depthwise)
    if not own.m and not own.n and not (roles.m and roles.n):
        raise NoPattern(Reason.DOT_PRODUCT, "neither operand has an axis of its own: a dot product")
    return roles, found


def _require_plain(name: str, access: Access) -> None:
    """Check an operand by itself: sums of axes with positive coefficients, no axis twice, zeros outside."""
    side, seen = f"the {_SIDES[name]} operand", set()
    for number, row in enumerate(access.map):
        at = (tuple(sorted(axes.positions(row))), ((name, number),))
        for atom, coefficient in row.terms:
            if not isinstance(atom, Axis):
                raise NoPattern(Reason.UNSPLIT_FLOOR, f"{side}'s index {row} has a floor division", *at)
            if coefficient < 0:
                raise NoPattern(Reason.FLIPPED, f"{side} is read backwards ({row})", *at)
            if atom.position in seen:
                rows = tuple((name, k) for k, each in enumerate(access.map) if atom.position in axes.positions(each))
                message = f"{side} is read along a diagonal: i{atom.position} appears twice"
                raise NoPattern(Reason.DIAGONAL, message, (atom.position,), rows)
            seen.add(atom.position)
    for guard in access.guards:
        masked = axes.positions(guard.expression)
        if guard.value != 0:
            message = f"{side} is padded with {guard.value}, not 0"
            raise NoPattern(Reason.PAD_VALUE, message, tuple(sorted(masked)))
        if not masked <= seen:
            message = f"{side} is masked along an axis that it is not read along"
            raise NoPattern(Reason.FOREIGN_MASK, message, tuple(sorted(masked - seen)))


def _about_joint_axes(error: NoPattern, digits: Digits, accesses: dict[str, Access]) -> NoPattern:
    """Return a rejection over digits as one over the joint axes."""
    if digits.are_axes:
        return error
    found = error.rejected
    positions = tuple(dict.fromkeys(digits.axis_of(digit) for digit in found.axes))
    rows = "".join(f", {_SIDES[name]} row {row} being {accesses[name].map[row]}" for name, row in found.rows)
    shape = ", ".join(map(str, digits.shape))
    return NoPattern(found.code, f"{found.reason} (over the digits [{shape}]{rows})", positions, found.rows)
