"""Axis expressions: what index a value reads, as a quasi-affine function of the axes `i0, i1, …` of another value.

An `AxisExpr` is a sum of a constant (a number or a symbolic extent), axes, and floor divisions by positive numbers,
each with an integer coefficient; `mod` is expanded. Expressions are hash-consed and simplified by the ranges of the
axes, which a `shape` tells (axis k runs from 0 below ``shape[k]``): `floordiv` of ``12*i0 + i1`` by 12 is ``i0``
where ``i1 < 12``. Equal expressions are equal as values. This package is pure Python; its modules `evaluation`
(numpy), `affine_map` (MLIR) and `isl_affine` (islpy) are imported by name where they are needed.
"""

from tinyc.analysis.axes.expression import (
    Atom,
    Axis,
    AxisExpr,
    FloorDiv,
    Index,
    Shape,
    axis,
    constant,
    divisions,
    identity,
    nesting,
    plain_axis,
    positions,
    term,
)
from tinyc.analysis.axes.simplification import bounds, floordiv, may_leave, mod
from tinyc.analysis.axes.substitution import compose, substitute

__all__ = [
    "Atom",
    "Axis",
    "AxisExpr",
    "FloorDiv",
    "Index",
    "Shape",
    "axis",
    "bounds",
    "compose",
    "constant",
    "divisions",
    "floordiv",
    "identity",
    "may_leave",
    "mod",
    "nesting",
    "plain_axis",
    "positions",
    "substitute",
    "term",
]
