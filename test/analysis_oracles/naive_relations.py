"""What movements read, as isl relations written down by definition: no simplification, reshapes by linear positions.

The oracle of the access maps: text in, isl's own parser, and nothing of the analyses but the algebra of extents.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import islpy as isl

from analysis_programs.movement_chains import Chain, Step
from tinyc.expr import axes
from tinyc.expr.axes import Axis, AxisExpr, FloorDiv
from tinyc.expr.extents import Dim, SymbolicAtom


def chain_relation(chain: Chain) -> Any:
    """Return the map from the elements of a chain's result to those of its source, pads left out.

    Raises:
        isl.Error: an extent is a product of symbols, which isl cannot say.
    """
    shape, found = chain.shape, None
    for step in chain.steps:
        relation = step_relation(step, shape)
        found = relation if found is None else relation.apply_range(found)
        shape = step.shape
    assert found is not None
    return found


def step_relation(step: Step, operand: Sequence[Dim]) -> Any:
    """Return the map from the elements of a movement's result to those of its operand."""
    out, source = ([f"{letter}{k}" for k in range(len(shape))] for letter, shape in (("o", step.shape), ("s", operand)))
    conditions = [*_box(out, step.shape), *_box(source, operand)]
    conditions += _RULES[step.op](step.arguments, out, source, operand, step.shape)
    text = f"{{ T[{', '.join(out)}] -> T[{', '.join(source)}] : {' and '.join(conditions) or 'true'} }}"
    return isl.Map(f"[M, N] -> {text}")


def _box(names: Sequence[str], shape: Sequence[Dim]) -> list[str]:
    return [f"0 <= {name} < {_extent(size)}" for name, size in zip(names, shape, strict=True)]


def _extent(size: Dim) -> str:
    if isinstance(size, int):
        return str(size)
    terms = ("*".join([str(coefficient), *map(_factor, monomial)]) for monomial, coefficient in size.terms)
    return f"({' + '.join(terms)})"


def _factor(atom: SymbolicAtom) -> str:
    return atom if isinstance(atom, str) else f"floor({_extent(atom.numerator)}/{_extent(atom.divisor)})"


def _reshape(arguments: Mapping[str, Any], out: list[str], source: list[str], old: Sequence[Dim], new: Sequence[Dim]):
    return [f"{_linear(out, new)} = {_linear(source, old)}"]


def _linear(names: Sequence[str], shape: Sequence[Dim]) -> str:
    """Return the row-major position in Horner's form; isl refuses a symbolic stride."""
    text = "0"
    for name, size in zip(names, shape, strict=True):
        text = f"{_extent(size)}*({text}) + {name}" if text != "0" else name
    return text


def _permute(arguments: Mapping[str, Any], out: list[str], source: list[str], *_: Any) -> list[str]:
    return [f"{out[k]} = {source[axis]}" for k, axis in enumerate(arguments["perm"])]


def _expand(arguments: Mapping[str, Any], out: list[str], source: list[str], old: Sequence[Dim], *_: Any) -> list[str]:
    places = enumerate(arguments["broadcast_dimensions"])
    return [f"{source[k]} = {'0' if old[k] == 1 else out[place]}" for k, place in places]


def _pad(arguments: Mapping[str, Any], out: list[str], source: list[str], *_: Any) -> list[str]:
    return [f"{o} = {s} + {low}" for o, s, low in zip(out, source, arguments["lo"], strict=True)]


def _shrink(arguments: Mapping[str, Any], out: list[str], source: list[str], *_: Any) -> list[str]:
    rows = zip(out, source, arguments["lo"], arguments["step"], strict=True)
    return [f"{s} = {_extent(low)} + {step}*{o}" for o, s, low, step in rows]


def _flip(arguments: Mapping[str, Any], out: list[str], source: list[str], old: Sequence[Dim], *_: Any) -> list[str]:
    rows = zip(out, source, old, strict=True)
    return [
        f"{s} = {_extent(size)} - 1 - {o}" if k in arguments["axes"] else f"{s} = {o}"
        for k, (o, s, size) in enumerate(rows)
    ]


def _pool(arguments: Mapping[str, Any], out: list[str], source: list[str], *_: Any) -> list[str]:
    lead = len(source) - len(arguments["kernel"])
    steps = list(zip(arguments["stride"], arguments["dilation"], strict=True))
    windows = [f"{s}*{out[lead + k]} + {d}*{out[len(source) + k]}" for k, (s, d) in enumerate(steps)]
    return [f"{s} = {row}" for s, row in zip(source, [*out[:lead], *windows], strict=True)]


def _view(arguments: Mapping[str, Any], out: list[str], source: list[str], *_: Any) -> list[str]:
    return [f"{s} = {_row(row, out)}" for s, row in zip(source, arguments["map"], strict=True)]


def _row(row: AxisExpr, out: list[str]) -> str:
    return " + ".join([f"{coefficient}*{_atom(atom, out)}" for atom, coefficient in row.terms] + [str(row.constant)])


def _atom(atom: axes.Atom, out: list[str]) -> str:
    if isinstance(atom, Axis):
        return out[atom.position]
    numerator = _row(atom.numerator, out)
    if isinstance(atom, FloorDiv):
        return f"floor(({numerator})/{atom.divisor})"
    return f"(({numerator}) mod {atom.divisor})"


_RULES: Mapping[str, Any] = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _flip,
    "pool": _pool,
    "view": _view,
}
