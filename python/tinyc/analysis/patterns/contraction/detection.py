"""Detection: from a `tiny.reduce` to its contraction, or to the reason why it is not one."""

from collections.abc import Collection
from dataclasses import replace

from tinyc.analysis.access import Access, DimAxes, extend
from tinyc.analysis.patterns.contraction.digits import Digits, split_digits
from tinyc.analysis.patterns.contraction.pattern import Contraction, axes_of
from tinyc.analysis.patterns.contraction.roles import Roles, classify, with_unit_axes
from tinyc.analysis.patterns.contraction.windows import Window, windows, without_digits
from tinyc.analysis.patterns.reduce import Reduce, attempt
from tinyc.analysis.patterns.rejection import NoPattern, Reason, Rejected
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import CastOp, MulOp, ReduceOp
from tinyc.expr import axes
from tinyc.expr.axes import Axis, Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type

_SIDES = {"lhs": "left", "rhs": "right"}


def detect_contraction(reduce: ReduceOp | Reduce, dims: DimAxes | None = None) -> Contraction | Rejected:
    """The contraction that a `tiny.reduce` is, seen through movements and widening casts, or why it is not one.

    `dims` is as in `attempt`.
    """
    return attempt(_contraction, reduce, dims)


def _contraction(reduce: Reduce) -> Contraction:
    reduce.require_sum()
    (product, multiply), domain, dims = _product(reduce), reduce.domain, reduce.dims
    # A fault below an operand is not an obstacle: the access then ends at the result of the op at fault.
    operands = (replace(product, source=operand) for operand in multiply.operands)
    lhs, rhs = (extend(operand, domain, _is_transparent, dims)[0] for operand in operands)
    digits = split_digits(domain, (lhs, rhs))
    try:
        roles, found = _analysed(digits, lhs, rhs, reduce.reduced)
    except NoPattern as error:
        raise _about_joint_axes(error, digits, {"lhs": lhs, "rhs": rhs}) from None
    return Contraction(reduce.reduce, multiply, lhs, rhs, domain, reduce.reduced, digits, roles, found)


def _product(reduce: Reduce) -> tuple[Access, MulOp]:
    """How the reduce reads the result of the `tiny.mul` that only it reads, and that op."""
    whole = Access(reduce.operand, axes.identity(reduce.domain))
    product, fault = extend(whole, reduce.domain, _is_private_movement, reduce.dims)
    if fault is not None:
        raise NoPattern(Reason.NOT_AFFINE, fault.reason)
    multiply = producer_of(product.source)
    if not isinstance(multiply, MulOp):
        raise NoPattern(Reason.NO_PRODUCT, "the operand is not a product")
    if not _used_once(product.source):
        raise NoPattern(Reason.SHARED_PRODUCT, "the product has other uses")
    return product, multiply


def is_summed_product(reduce: ReduceOp) -> bool:
    """Whether a `tiny.reduce` is a sum of products that nothing else reads.

    Such products are formed in the accumulator's type, in every executor (`spec/tiny-json.md`, Arithmetic).
    """
    operand = reduce.operand
    return reduce.op.value == "sum" and isinstance(producer_of(operand), MulOp) and _used_once(operand)


def summed_factors(reduce: ReduceOp) -> tuple[ir.Value, ...]:
    """What a `tiny.reduce` takes in: a value, or both factors of products that it forms (`is_summed_product`)."""
    product = reduce.operand.owner
    if isinstance(product, MulOp) and is_summed_product(reduce):
        return product.lhs, product.rhs
    return (reduce.operand,)


def _used_once(value: ir.Value) -> bool:
    return len(list(value.uses)) == 1


def _is_private_movement(op: ir.OpView) -> bool:
    return isinstance(op, tiny.MovementOp) and _used_once(op.results[0])


def _is_transparent(op: ir.OpView) -> bool:
    """Whether an operand is seen through `op`: a movement, or a cast that changes no value."""
    return isinstance(op, tiny.MovementOp) or (isinstance(op, CastOp) and is_widening(op))


def is_widening(cast: CastOp) -> bool:
    """Whether a `tiny.cast` keeps every value: to the same type, a wider one of its kind, or unsigned to signed."""
    before, after = tensor_type(cast.operand.type).element, tensor_type(cast.output.type).element
    if before == after:
        return True
    kinds_fit = before.kind is after.kind or (before.is_unsigned and after.is_signed)
    return kinds_fit and not before.is_bool and before.bits < after.bits


def _analysed(digits: Digits, lhs: Access, rhs: Access, reduced: tuple[int, ...]) -> tuple[Roles, tuple[Window, ...]]:
    """The roles of the digits and the windows of the operands."""
    lhs, rhs = digits.rewrite(lhs), digits.rewrite(rhs)
    if lhs == rhs:
        raise NoPattern(Reason.SQUARE, "both operands are the same elements: a sum of squares")
    summed = tuple(digit for axis in reduced for digit in digits.of[axis])
    forwards = {name: _forwards(access, summed, digits.shape) for name, access in (("lhs", lhs), ("rhs", rhs))}
    for name, (access, _) in forwards.items():
        _require_plain(name, access)
    (left, _), (right, _) = forwards.values()
    own = classify(axes_of(left), axes_of(right), summed, digits.shape)
    by_side = {
        "lhs": windows("lhs", left, own.m, own.k, digits.shape),
        "rhs": windows("rhs", right, own.n, own.k, digits.shape),
    }
    found = tuple(without_digits(by_side["lhs"], by_side["rhs"], digits.shape))
    if len({window.operand for window in found}) > 1:
        rows = tuple((window.operand, window.row) for window in found)
        raise NoPattern(Reason.WINDOWS_IN_BOTH, "both operands have windows", rows=rows)
    for name, access in (("lhs", lhs), ("rhs", rhs)):
        if not forwards[name][1] <= {window.kernel for window in found if window.operand != name}:
            _require_plain(name, access)
    # One filter for each channel stays depthwise, also where there is one image.
    depthwise = bool(found and own.batch and not (own.n if found[0].operand == "lhs" else own.m))
    roles = with_unit_axes(own, summed, digits.shape, stand_in=not depthwise)
    if not own.m and not own.n and not (roles.m and roles.n):
        raise NoPattern(Reason.DOT_PRODUCT, "neither operand has an axis of its own: a dot product")
    return roles, found


def _forwards(access: Access, summed: Collection[int], domain: Shape) -> tuple[Access, frozenset[int]]:
    """An operand with the summed axes that it is read backwards along turned around, and which these are.

    The terms of a sum have no order but that of its axes: a convolution with a kernel that is reversed is one.
    """
    backwards: set[int] = set()
    for row in access.expressions:
        negative = [atom for atom, coefficient in row.terms if coefficient < 0]
        positions = {atom.position for atom in negative if isinstance(atom, Axis)}
        if len(positions) == len(negative) and all(
            position in summed and isinstance(domain[position], int) for position in positions
        ):
            backwards |= positions
    if not backwards:
        return access, frozenset()
    turned = tuple(
        axes.axis(position, domain) * -1 + (extent - 1) if position in backwards else axes.axis(position, domain)
        for position, extent in enumerate(domain)
    )
    return access.with_expressions(axes.compose(access.expressions, turned, domain)), frozenset(backwards)


def _require_plain(name: str, access: Access) -> None:
    """Check an operand by itself: sums of axes with positive coefficients, no axis twice, zeros outside."""
    side = f"the {_SIDES[name]} operand"
    seen: set[int] = set()
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
    """A rejection over digits as one over the joint axes."""
    if digits.are_axes:
        return error
    found = error.rejected
    positions = tuple(dict.fromkeys(digits.axis_of(digit) for digit in found.axes))
    names = digits.names([f"i{axis}" for axis in range(len(digits.of))])
    parts = [f"{name} < {size}" for name, size in zip(names, digits.shape, strict=True) if "." in name]
    rows = [f"{_SIDES[name]} row {row} is {accesses[name].map[row]}" for name, row in found.rows]
    reason = f"{found.named(names).reason} (where {', '.join([*parts, *rows])})"
    return NoPattern(found.code, reason, positions, found.rows)
