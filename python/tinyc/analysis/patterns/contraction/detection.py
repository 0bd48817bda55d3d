"""Detection: from a `tiny.reduce` to its contraction, or to the reason why it is none."""

from dataclasses import replace
from typing import Any

from tinyc.analysis import axes
from tinyc.analysis.access import Access, DimAxes, extend
from tinyc.analysis.axes import Axis
from tinyc.analysis.patterns.contraction.digits import Digits, split
from tinyc.analysis.patterns.contraction.pattern import Contraction, axes_of
from tinyc.analysis.patterns.contraction.roles import Roles, classify, with_unit_axes
from tinyc.analysis.patterns.contraction.windows import Window, windows
from tinyc.analysis.patterns.reduce import Reduce, attempt
from tinyc.analysis.patterns.rejection import NoPattern, Reason, Rejected
from tinyc.analysis.tiny_ops import is_movement, producer_of
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import FLOATS, SIGNED, UNSIGNED, bits

_SIDES = {"lhs": "left", "rhs": "right"}


def detect(reduce: Any, dims: DimAxes | None = None) -> Contraction | Rejected:
    """Return the contraction that a `tiny.reduce` is, seen through movements and widening casts, or why it is none.

    `dims` is as in `attempt`.
    """
    return attempt(_contraction, reduce, dims)


def _contraction(reduce: Reduce) -> Contraction:
    reduce.require_sum()
    product, domain, dims = _product(reduce), reduce.domain, reduce.dims
    multiply = product.source.owner.operation
    # A fault below an operand is no obstacle: the access then ends at the result of the op at fault.
    operands = (replace(product, source=operand) for operand in multiply.operands)
    lhs, rhs = (extend(operand, domain, _is_transparent, dims)[0] for operand in operands)
    digits = split(domain, (lhs, rhs))
    try:
        roles, found = _analysed(digits, lhs, rhs, reduce.reduced)
    except NoPattern as error:
        raise _about_joint_axes(error, digits, {"lhs": lhs, "rhs": rhs}) from None
    return Contraction(reduce.operation, multiply, lhs, rhs, domain, reduce.reduced, digits, roles, found)


def _product(reduce: Reduce) -> Access:
    """Return how the reduce reads the result of the `tiny.mul` that only it reads."""
    whole = Access(reduce.operand, axes.identity(reduce.domain))
    product, fault = extend(whole, reduce.domain, _is_private_movement, reduce.dims)
    if fault is not None:
        raise NoPattern(Reason.NOT_AFFINE, fault.reason)
    multiply = producer_of(product.source)
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
    producer = producer_of(operand)
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
    names = digits.names([f"i{axis}" for axis in range(len(digits.of))])
    parts = [f"{name} < {size}" for name, size in zip(names, digits.shape, strict=True) if "." in name]
    rows = [f"{_SIDES[name]} row {row} is {accesses[name].map[row]}" for name, row in found.rows]
    reason = f"{found.named(names).reason} (where {', '.join([*parts, *rows])})"
    return NoPattern(found.code, reason, positions, found.rows)
