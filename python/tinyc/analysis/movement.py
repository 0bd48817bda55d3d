"""What each Tiny movement reads: from the index of a result element to the index of the operand element.

`read` takes the op's arguments as plain values and the result's index as axis expressions, and gives the operand's
index with the guards of a `pad`. No MLIR here; `access` applies this to IR.
"""

import functools
import itertools
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr, Index, Shape
from tinyc.expr.extents import Dim

#: Axes of one shape that become those of another.
Part = tuple[list[int], list[int]]


class NotAffine(Exception):
    """The movement is not a quasi-affine map with integer coefficients; the message says why."""


@dataclass(frozen=True)
class Guard:
    """An element is in bounds where ``0 <= expression < size``; elsewhere it is `value`."""

    expression: AxisExpr
    size: Dim
    value: bool | int | float

    def __str__(self) -> str:
        return f"0 <= {self.expression} < {self.size} else {self.value}"


@dataclass(frozen=True)
class Read:
    """The operand's index, and the guards that must hold for it, in the order in which they decide."""

    index: Index
    guards: tuple[Guard, ...] = ()


def exact(value: bool | int | float) -> tuple[type, bool | int | bytes]:
    """A key that values share which are of one type and of the same bits: 0.0 and -0.0, 1 and True differ."""
    return type(value), struct.pack("<d", value) if isinstance(value, float) else value


def movement_read(op: str, arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    """How the movement `op` reads an operand of shape `operand` for the result element at `index`.

    The expressions of `index` run over the axes of `domain`.

    Raises:
        NotAffine: a reshape with a symbolic stride.
        ExtentError: an extent that arises is too large to be written down.
    """
    return _RULES[op](arguments, operand, index, domain)


def _permute(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    perm: tuple[int, ...] = arguments["perm"]
    source = dict(zip(perm, index, strict=True))
    return Read(tuple(source[position] for position in range(len(operand))))


def _expand(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    positions: tuple[int, ...] = arguments["broadcast_dimensions"]
    pairs = zip(operand, positions, strict=True)
    return Read(tuple(axes.constant(0) if extent == 1 else index[position] for extent, position in pairs))


def _pad(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    low, high, value = arguments["lo"], arguments["hi"], arguments["value"]
    inner = tuple(expression - amount for expression, amount in zip(index, low, strict=True))
    padded = [position for position in range(len(operand)) if low[position] or high[position]]
    return Read(inner, tuple(Guard(inner[position], operand[position], value) for position in padded))


def _shrink(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    steps = zip(index, arguments["lo"], arguments["step"], strict=True)
    return Read(tuple(expression * step + low for expression, low, step in steps))


def _flip(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    flipped = arguments["axes"]
    return Read(
        tuple(
            expression * -1 + (operand[position] - 1) if position in flipped else expression
            for position, expression in enumerate(index)
        )
    )


def _pool(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    windows = len(arguments["kernel"])
    lead = len(operand) - windows
    out, kernel = index[lead : len(operand)], index[len(operand) :]
    rows = zip(out, arguments["stride"], kernel, arguments["dilation"], strict=True)
    return Read((*index[:lead], *(o * stride + k * dilation for o, stride, k, dilation in rows)))


def _view(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    return Read(axes.compose(arguments["map"], index, domain))


def _reshape(arguments: Mapping[str, Any], operand: Shape, index: Index, domain: Shape) -> Read:
    result: Shape = arguments["shape"]
    if 0 in operand or 0 in result:
        return Read((axes.constant(0),) * len(operand))  # there is no element to read
    rows = [axes.constant(0)] * len(operand)
    for old, new in groups(operand, result):
        sizes = [operand[position] for position in old]
        flat = _linear([index[position] for position in new], [result[position] for position in new])
        for position, row in zip(old, _digits(flat, sizes, domain), strict=True):
            rows[position] = row
    return Read(tuple(rows))


def groups(old: Shape, new: Shape) -> tuple[Part, ...]:
    """Which axes of the shape `old` become which of `new`: the parts of `cut`, each of them affine.

    Raises:
        NotAffine: a part of several axes has a symbolic extent other than its first, which would be a stride.
    """
    found = cut(old, new)
    for old_part, new_part in found:
        sizes = [old[position] for position in old_part], [new[position] for position in new_part]
        if not has_numeric_strides(*sizes):
            shapes = [", ".join(map(str, each)) for each in sizes]
            raise NotAffine(
                f"symbolic stride: the axes [{shapes[0]}] become [{shapes[1]}], and only the first of a group of axes "
                "may be symbolic"
            )
    return found


@functools.lru_cache(maxsize=4096)
def cut(old: Shape, new: Shape) -> tuple[Part, ...]:
    """The finest parts of two shapes of one size, by equal products from the left, then from the right.

    Axes of extent 1 are in no part. Where the equality of the shapes is an assumption, one part has unequal products.
    """
    old_axes = [position for position, extent in enumerate(old) if extent != 1]
    new_axes = [position for position, extent in enumerate(new) if extent != 1]
    found: list[Part] = []
    for old_part, new_part in _cut(old_axes, old, new_axes, new):
        found += [(o[::-1], n[::-1]) for o, n in _cut(old_part[::-1], old, new_part[::-1], new)]
    return tuple(found)


def has_numeric_strides(old: Sequence[Dim], new: Sequence[Dim]) -> bool:
    """Whether axes of the sizes `old` become those of the sizes `new` by numbers only."""
    one_to_one = len(old) == 1 and len(new) == 1
    return one_to_one or all(isinstance(extent, int) for extent in (*old[1:], *new[1:]))


def _cut(old_axes: list[int], old: Shape, new_axes: list[int], new: Shape) -> list[Part]:
    """Cut two lists of axes wherever the products of the extents up to there are equal."""
    ends = {total: count for count, total in enumerate(_products(old_axes, old), 1)}
    cuts: list[Part] = []
    old_start = new_start = 0
    for count, total in enumerate(_products(new_axes, new), 1):
        if total in ends:
            cuts.append((old_axes[old_start : ends[total]], new_axes[new_start:count]))
            old_start, new_start = ends[total], count
    if old_start < len(old_axes) or new_start < len(new_axes):
        cuts.append((old_axes[old_start:], new_axes[new_start:]))
    return cuts


def _products(positions: Sequence[int], shape: Shape) -> Iterator[Dim]:
    return itertools.accumulate((shape[position] for position in positions), lambda a, b: a * b)


def _linear(index: Sequence[AxisExpr], sizes: Sequence[Dim]) -> AxisExpr:
    """The row-major position of `index` in a box of `sizes`; all but the first size are numbers."""
    total, stride = axes.constant(0), 1
    for expression, size in zip(reversed(index), reversed(sizes), strict=True):
        total = total + expression * stride
        stride = stride * size if isinstance(size, int) else stride
    return total


def _digits(flat: AxisExpr, sizes: Sequence[Dim], domain: Shape) -> list[AxisExpr]:
    """The index of row-major position `flat` in a box of `sizes`; all but the first size are numbers."""
    rows: list[AxisExpr] = []
    stride = 1
    for size in reversed(sizes[1:]):
        assert isinstance(size, int)
        rows.append(axes.mod(axes.floordiv_within(flat, stride, domain), size, domain))
        stride *= size
    if sizes:
        rows.append(axes.floordiv_within(flat, stride, domain))
    return rows[::-1]


_RULES: Mapping[str, Callable[[Mapping[str, Any], Shape, Index, Shape], Read]] = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _flip,
    "view": _view,
    "pool": _pool,
}
