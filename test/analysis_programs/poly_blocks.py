"""Blocks for the tests of Poly Core, written without a program."""

from collections.abc import Sequence
from typing import Any

from tinyc.analysis.isl.statement import Statement, constants
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.expr import axes
from tinyc.expr.extents import Dim
from tinyc.vocabulary.element_type import ElementType


def read(tensor: str, *index: Any, within: Sequence[tuple[int, Dim]] = ()) -> PolyAccess:
    """Return a read of ``tensor[index]``; `within` has (row, extent) of the rows that have to be inside."""
    rows = tuple(row if isinstance(row, axes.AxisExpr) else axes.constant(row) for row in index)
    return PolyAccess(tensor, rows, tuple(Guard(rows[row], size, 0.0) for row, size in within))


def block(
    name: str,
    labels: str,
    shape: Sequence[Dim],
    *reads: PolyAccess,
    reduced: str = "",
    kind: str | None = None,
    element: str = "f32",
    **attributes: Any,
) -> PolyBlock:
    """Return a block over axes with these labels; it writes the element of those that are not reduced."""
    names, extents = labels.split(), tuple(shape)
    rows = [row for each in reads for row in each.expressions]
    statement = Statement.over(name, extents, names, constants(rows))
    kept = [position for position, label in enumerate(names) if label not in reduced.split()]
    write = tuple(axes.axis(position, extents) for position in kept)
    kind = kind or ("reduce" if reduced else "ewise")
    return PolyBlock(kind, statement, write, reads, ElementType(element), attributes)


def axes_of(shape: Sequence[Dim]) -> tuple[axes.AxisExpr, ...]:
    """Return the axes of a box, as expressions."""
    return axes.identity(tuple(shape))


def copy_of(tensor: str, name: str, labels: str, shape: Sequence[Dim]) -> PolyBlock:
    """Return a block that reads `tensor` element by element."""
    return block(name, labels, shape, read(tensor, *axes_of(shape)))


def conv(
    kernel: int, stride: int, dilation: int, size: int = 224, channels: int = 1, pad: int | None = None
) -> tuple[PolyBlock, PolyBlock]:
    """Return the input `x[c, h, w]` and the convolution `y[oc, oh, ow]` of it, padded as by itself ("same")."""
    pad = dilation * (kernel - 1) // 2 if pad is None else pad
    out = (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
    shape = (8, out, out, channels, kernel, kernel)
    _, oh, ow, ic, kh, kw = axes_of(shape)
    rows = (ic, oh * stride + kh * dilation - pad, ow * stride + kw * dilation - pad)
    within = ((1, size), (2, size)) if pad else ()
    x = copy_of("input", "x", "c h w", (channels, size, size))
    reads = read("x", *rows, within=within)
    return x, block("y", "oc oh ow ic kh kw", shape, reads, reduced="ic kh kw", kind="contraction_pattern")
