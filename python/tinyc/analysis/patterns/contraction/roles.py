"""The part that each axis plays in a contraction: batch, m, n or k."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tinyc.analysis.patterns.rejection import NoPattern, Reason
from tinyc.expr.axes import Shape


@dataclass(frozen=True)
class Roles:
    """The axes by the part that they play; `broadcast` axes are kept and read by neither operand."""

    batch: tuple[int, ...]
    m: tuple[int, ...]
    n: tuple[int, ...]
    k: tuple[int, ...]
    broadcast: tuple[int, ...]

    @property
    def has_mma_shape(self) -> bool:
        """Whether there are an m, an n and a k."""
        return bool(self.m and self.n and self.k)


def classify(left: frozenset[int], right: frozenset[int], summed: Sequence[int], domain: Shape) -> Roles:
    """The roles of the axes of `domain`, those of extent 1 left out, by which operand is read along which.

    Raises:
        NoPattern: an axis is summed and not in both operands, or none is summed.
    """
    shared = [position for position in summed if position in left and position in right]
    for position in summed:
        if domain[position] == 1 or position in shared:
            continue
        if position in left or position in right:
            message = f"the summed axis i{position} is in one operand"
            raise NoPattern(Reason.ONE_OPERAND_REDUCE, message, (position,))
        message = f"the summed axis i{position} is in neither operand"
        code = Reason.NO_OPERAND_REDUCE if shared else Reason.OUTER_PRODUCT
        raise NoPattern(code, message if shared else f"{message}: an outer product", (position,))
    if not summed:
        raise NoPattern(Reason.OUTER_PRODUCT, "no axis is summed: an outer product")
    kept = [position for position, extent in enumerate(domain) if extent != 1 and position not in summed]
    return Roles(
        batch=tuple(position for position in kept if position in left and position in right),
        m=tuple(position for position in kept if position in left and position not in right),
        n=tuple(position for position in kept if position in right and position not in left),
        k=tuple(shared),
        broadcast=tuple(position for position in kept if position not in left and position not in right),
    )


def with_unit_axes(roles: Roles, summed: Sequence[int], domain: Shape, stand_in: bool = True) -> Roles:
    """Add the axes of extent 1: as a missing m (the first of them), a missing n (the last) and k; the others as batch.

    Without `stand_in` no kept axis takes the place of a missing m or n.
    """
    units = [position for position, extent in enumerate(domain) if extent == 1 and position not in summed]
    m, n = roles.m, roles.n
    if stand_in:
        m, units = (m, units) if m else (tuple(units[:1]), units[1:])
        n, units = (n, units) if n else (tuple(units[-1:]), units[:-1])
    k = (*roles.k, *(position for position in summed if domain[position] == 1))
    return replace(roles, batch=tuple(sorted((*roles.batch, *units))), m=m, n=n, k=k)
