"""A contraction that was found, as data."""

import functools
from dataclasses import dataclass

from tinyc.analysis.access import Access
from tinyc.analysis.patterns.contraction.digits import Digits
from tinyc.analysis.patterns.contraction.roles import Roles, classify, with_unit_axes
from tinyc.analysis.patterns.contraction.windows import Window
from tinyc.dialects.tiny.ops import MulOp, ReduceOp
from tinyc.expr import axes
from tinyc.expr.axes import Shape

_PRODUCTS = {"depthwise": "depthwise convolution", "vector": "matrix-vector product"}


@dataclass(frozen=True)
class Contraction:
    """A sum of products.

    `lhs` and `rhs` are the operands' accesses over the joint axes, whose extents are `domain`; `reduced` are the summed
    ones. `roles` and `windows` speak of the digits, over which every row is a sum of axes (`over_digits`).
    """

    reduce: ReduceOp
    multiply: MulOp
    lhs: Access
    rhs: Access
    domain: Shape
    reduced: tuple[int, ...]
    digits: Digits
    roles: Roles
    windows: tuple[Window, ...]

    @property
    def pattern(self) -> str:
        """`conv` where there is a window, else `matmul`."""
        return "conv" if self.windows else "matmul"

    @property
    def form(self) -> str:
        """`matrix`; without an m or an n `depthwise` where there is a window, else `vector`: no MMA fits the two."""
        if self.roles.has_mma_shape:
            return "matrix"
        return "depthwise" if self.windows else "vector"

    @property
    def over_digits(self) -> tuple[Access, Access]:
        """The accesses of the left and the right operand, over the digits."""
        return self.digits.rewrite(self.lhs), self.digits.rewrite(self.rhs)

    @functools.cached_property
    def axis_roles(self) -> Roles:
        """The roles of whole joint axes, for what does not split them; one with digits in both operands is batch."""
        if self.digits.are_axes:
            return self.roles
        roles = classify(axes_of(self.lhs), axes_of(self.rhs), self.reduced, self.domain)
        return with_unit_axes(roles, self.reduced, self.domain, stand_in=self.form == "matrix")

    @functools.cached_property
    def batch_axes(self) -> tuple[int, ...]:
        """The joint axes of the batch of a matrix product: what neither operand is read along is one, too."""
        return tuple(sorted((*self.axis_roles.batch, *self.axis_roles.broadcast)))

    @functools.cached_property
    def result_sides(self) -> tuple[tuple[int, ...], ...]:
        """The axes of the reduction's result that are a tile's rows (m), its columns (n), and its batch."""
        kept = [axis for axis in range(len(self.domain)) if axis not in self.reduced]
        sides = (self.axis_roles.m, self.axis_roles.n, self.batch_axes)
        return tuple(tuple(map(kept.index, side)) for side in sides)

    @property
    def has_mma_shape(self) -> bool:
        """Whether an m, an n and a k are whole joint axes: what a kernel that tiles them needs."""
        return self.roles.has_mma_shape and self.axis_roles.has_mma_shape

    @property
    def misfit(self) -> str:
        """Why it has no MMA shape."""
        if self.roles.has_mma_shape:
            return "m or n is a part of an axis"
        side = "left" if not self.roles.m else "right"
        return f"the {side} operand has no axis of its own: a {_PRODUCTS[self.form]}"


def axes_of(access: Access) -> frozenset[int]:
    """The axes that an access is read along."""
    return frozenset[int]().union(*(axes.positions(row) for row in access.map))
