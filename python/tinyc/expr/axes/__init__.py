"""Axis expressions: what index a value reads, as a quasi-affine function of the axes `i0, i1, …` of another value.

An `AxisExpr` is a sum of a constant (a number or a symbolic extent), axes, and floor divisions by positive numbers,
each with an integer coefficient; `mod` is expanded. Expressions are hash-consed and simplified by the ranges of the
axes, which a `shape` tells (axis k runs from 0 below ``shape[k]``): `floordiv_within` of ``12*i0 + i1`` by 12 is ``i0``
where ``i1 < 12``. Equal expressions are equal as values. In reading order: `expression`, `simplification`,
`substitution`; `evaluation` (numpy) is imported by name where it is needed.
"""

from tinyc.expr.axes.expression import (
    Atom,
    AxisExpr,
    Floor,
    Index,
    Shape,
    axis,
    constant,
    divisions,
    identity,
    nesting,
    plain_axis,
    plain_floordiv,
    plain_mod,
    plain_sum,
    positions,
    term,
)
from tinyc.expr.axes.simplification import bounds, floordiv_within, may_leave, mod, plain_bounds, with_remainders
from tinyc.expr.axes.substitution import compose, substitute_axes
from tinyc.expr.terms import Axis, FloorDiv, Mod

__all__ = [
    "Atom",
    "Axis",
    "AxisExpr",
    "Floor",
    "FloorDiv",
    "Index",
    "Mod",
    "Shape",
    "axis",
    "bounds",
    "compose",
    "constant",
    "divisions",
    "floordiv_within",
    "identity",
    "may_leave",
    "mod",
    "nesting",
    "plain_axis",
    "plain_bounds",
    "plain_floordiv",
    "plain_mod",
    "plain_sum",
    "positions",
    "substitute_axes",
    "term",
    "with_remainders",
]
