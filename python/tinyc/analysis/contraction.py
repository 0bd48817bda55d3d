"""Contractions: a `sum` over a product of two operands that an MMA template can run (matrix products, convolutions).

`detect` takes a `tiny.reduce` and gives the operands' accesses and the part that each axis plays, or the reason why the
reduce is no contraction. The *joint axes* are those of the reduce's operand: every map runs over them.

An axis in both operands is *batch* where it is kept and *k* where it is summed; one in the left operand only is *m*,
in the right one only *n*. An axis of extent 1 moves no index: one that is missing as m, n or k is taken from these, so
that a product with M = 1 stays a matrix product. A row ``s*o + d*k - p``, o from m or n, is a *window*: a convolution.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.access import Access, extend, is_movement
from tinyc.analysis.axis import Axis, AxisExpr, Shape
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import FLOATS, SIGNED, UNSIGNED, bits


@dataclass(frozen=True)
class Window:
    """Row `row` of the map of `operand` is ``stride * outer + dilation * kernel - pad``, with two axes."""

    operand: str
    row: int
    outer: int
    kernel: int
    stride: int
    dilation: int
    pad: int


@dataclass(frozen=True)
class Roles:
    """The part that each joint axis plays; `broadcast` axes are kept and read by neither operand."""

    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]
    broadcast: tuple[int, ...]


@dataclass(frozen=True)
class Contraction:
    """A sum of products; the accesses run over the joint axes, whose extents are `domain`."""

    reduce: Any
    multiply: Any
    lhs: Access
    rhs: Access
    domain: Shape
    roles: Roles
    windows: tuple[Window, ...]

    @property
    def pattern(self) -> str:
        """`conv` where there is a window, else `matmul`."""
        return "conv" if self.windows else "matmul"


@dataclass(frozen=True)
class Rejected:
    """Why a reduce is no contraction."""

    reason: str


class _NoContraction(Exception):
    pass


def detect(reduce: Any) -> Contraction | Rejected:
    """Return the contraction that a `tiny.reduce` is, seen through movements and widening casts."""
    try:
        return _detect(reduce.operation)
    except _NoContraction as error:
        return Rejected(str(error))


def _detect(reduce: Any) -> Contraction:
    values = arguments(reduce)
    if values["op"] != "sum":
        raise _NoContraction(f"the reduction is a {values['op']}, not a sum")
    domain = tensor_type(reduce.operands[0].type).shape
    product, fault = extend(Access(reduce.operands[0], axes.identity(domain)), domain, _is_private_movement)
    if fault is not None:
        raise _NoContraction(fault.reason)
    multiply = getattr(product.source.owner, "operation", None)
    if multiply is None or multiply.name != "tiny.mul":
        raise _NoContraction("the operand is no product")
    if not _used_once(product.source):
        raise _NoContraction("the product has other uses")
    # A fault below an operand is no obstacle: the access then ends at the result of the op at fault.
    lhs, rhs = (extend(replace(product, source=operand), domain, _is_transparent)[0] for operand in multiply.operands)
    for name, access in (("left", lhs), ("right", rhs)):
        _require_plain(name, access)
    roles = _with_unit_axes(_classify(lhs, rhs, values["axes"], domain), values["axes"], domain)
    _require_matrix_product(roles)
    windows = (*_windows("lhs", lhs, roles, roles.m, domain), *_windows("rhs", rhs, roles, roles.n, domain))
    if len({window.operand for window in windows}) > 1:
        raise _NoContraction("both operands have windows")
    return Contraction(reduce, multiply, lhs, rhs, domain, roles, windows)


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


def _require_plain(name: str, access: Access) -> None:
    """Check an operand by itself: sums of axes with positive coefficients, no axis twice, zeros outside."""
    seen: set[int] = set()
    for row in access.map:
        for atom, coefficient in row.terms:
            if not isinstance(atom, Axis):
                raise _NoContraction(f"the {name} operand's index {row} has a floor division")
            if coefficient < 0:
                raise _NoContraction(f"the {name} operand is read backwards ({row})")
            if atom.position in seen:
                raise _NoContraction(f"the {name} operand is read along a diagonal: i{atom.position} appears twice")
            seen.add(atom.position)
    for guard in access.guards:
        if guard.value != 0:
            raise _NoContraction(f"the {name} operand is padded with {guard.value}, not 0")
        if not axes.positions(guard.expression) <= seen:
            raise _NoContraction(f"the {name} operand is masked along an axis that it is not read along")


def _axes_of(access: Access) -> frozenset[int]:
    return frozenset().union(*(axes.positions(row) for row in access.map))


def _classify(lhs: Access, rhs: Access, reduced: Sequence[int], domain: Shape) -> Roles:
    left, right = _axes_of(lhs), _axes_of(rhs)
    for position in reduced:
        if domain[position] != 1 and not (position in left and position in right):
            operands = "one operand" if position in left | right else "neither operand"
            raise _NoContraction(f"the summed axis i{position} is in {operands}")
    kept = [position for position in range(len(domain)) if position not in reduced and domain[position] != 1]
    return Roles(
        batch=tuple(position for position in kept if position in left & right),
        m=tuple(position for position in kept if position in left - right),
        n=tuple(position for position in kept if position in right - left),
        k=tuple(position for position in reduced if position in left & right),
        broadcast=tuple(position for position in kept if position not in left | right),
    )


def _with_unit_axes(roles: Roles, reduced: Sequence[int], domain: Shape) -> Roles:
    """Let axes of extent 1 stand in for a missing m (the first of them), n (the last) and k; the others are batch."""
    kept = [position for position, extent in enumerate(domain) if extent == 1 and position not in reduced]
    summed = tuple(position for position in reduced if domain[position] == 1)
    m = roles.m or tuple(kept[:1])
    kept = kept if roles.m else kept[1:]
    n = roles.n or tuple(kept[-1:])
    kept = kept if roles.n else kept[:-1]
    return replace(roles, batch=tuple(sorted((*roles.batch, *kept))), m=m, n=n, k=(*roles.k, *summed))


def _require_matrix_product(roles: Roles) -> None:
    if not roles.k:
        raise _NoContraction("no axis is summed: an outer product")
    if not roles.m and not roles.n:
        raise _NoContraction("neither operand has an axis of its own: a dot product")
    if not roles.m or not roles.n:
        side = "left" if not roles.m else "right"
        raise _NoContraction(f"the {side} operand has no axis of its own: a matrix-vector product")


def _windows(name: str, access: Access, roles: Roles, outer: Sequence[int], domain: Shape) -> list[Window]:
    """Return the windows among the rows of an operand whose own axes are `outer`.

    Raises:
        _NoContraction: a row adds up axes and is neither a window nor a splitting of one axis into digits.
    """
    guarded = frozenset().union(*(axes.positions(guard.expression) for guard in access.guards))
    windows = []
    for number, row in enumerate(access.map):
        plain = row.constant == 0 and not axes.positions(row) & guarded
        if len(row.terms) < 2 or (plain and _is_digits(row, domain)):
            continue
        window = _window(name, number, row, outer, roles.k)
        if window is None:
            raise _NoContraction(f"the index {row} is neither a window nor digits of one axis")
        windows.append(window)
    return windows


def _is_digits(row: AxisExpr, domain: Shape) -> bool:
    """Say whether the axes are the digits of a mixed-radix number: each steps by what the finer ones span."""
    span = 1
    for atom, coefficient in sorted(row.terms, key=lambda term: term[1]):
        if coefficient != span or not isinstance(atom, Axis):
            return False
        extent = domain[atom.position]
        span = span * extent if isinstance(extent, int) else 0  # nothing is coarser than a symbolic digit
    return True


def _window(name: str, number: int, row: AxisExpr, outer: Sequence[int], k: Sequence[int]) -> Window | None:
    if len(row.terms) != 2 or not isinstance(row.constant, int):
        return None
    terms = {atom.position: coefficient for atom, coefficient in row.terms if isinstance(atom, Axis)}
    own, summed = [position for position in terms if position in outer], [p for p in terms if p in k]
    if len(own) != 1 or len(summed) != 1:
        return None
    return Window(name, number, own[0], summed[0], terms[own[0]], terms[summed[0]], -row.constant)
