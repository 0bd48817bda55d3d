"""The largest of several extents: how many bytes an arena has.

The algebra of extents has no maximum, so that this is the end of a calculation and no part of another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tinyc.expr import extents
from tinyc.expr.extents import Dim


@dataclass(frozen=True)
class Maximum:
    """The largest of `dims`, two or more."""

    dims: tuple[Dim, ...]

    def __str__(self) -> str:
        return f"max({', '.join(map(str, self.dims))})"


#: An extent, or the largest of several.
MaximumDim = Dim | Maximum


def maximum(dims: Sequence[Dim]) -> MaximumDim:
    """The largest of one extent or more."""
    return dims[0] if len(dims) == 1 else Maximum(tuple(dims))


def maximum_dims(size: MaximumDim) -> tuple[Dim, ...]:
    """The extents that a size is the largest of."""
    return size.dims if isinstance(size, Maximum) else (size,)


def maximum_at(size: MaximumDim, values: Mapping[str, int]) -> int:
    """The value of the largest extent.

    Raises:
        ExtentError: as of `extents.evaluate`.
    """
    return max(extents.evaluate(each, values) for each in maximum_dims(size))
