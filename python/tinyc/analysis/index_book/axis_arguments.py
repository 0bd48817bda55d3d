"""The arguments of movements and reduces, said about axes where dimensions are split into several.

A dimension that an op reads in any way but as a whole is never split (`splits`): what is said of a split dimension is
that it is kept, moved, brought in or summed up.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tinyc.expr.axes import Shape

AxisArguments = dict[str, Any]


class _Sides:
    """The dimensions of an operand and of a result as ranges of axes."""

    def __init__(self, operand: Sequence[Shape], result: Sequence[Shape]) -> None:
        self.operand, self.result = _ranges(operand), _ranges(result)
        self.operand_shape, self.result_shape = (tuple(itertools.chain(*dims)) for dims in (operand, result))


def _ranges(dims: Sequence[Shape]) -> list[range]:
    ends = list(itertools.accumulate((len(axes) for axes in dims), initial=0))
    return [range(start, end) for start, end in itertools.pairwise(ends)]


def axis_arguments(
    kind: str, arguments: Mapping[str, Any], operand: Sequence[Shape], result: Sequence[Shape]
) -> AxisArguments:
    """The arguments of the movement or reduce `kind` between the axes of the operand's and the result's dims."""
    return {**arguments, **_RULES.get(kind, _nothing)(arguments, _Sides(operand, result))}


def _nothing(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    return {}


def _reshape(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    return {"shape": sides.result_shape}


def _permute(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    return {"perm": _axes_of(sides.operand, arguments["perm"])}


def _expand(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    positions: tuple[int, ...] = arguments["broadcast_dimensions"]
    kept = (sides.result[k][: len(axes)] for axes, k in zip(sides.operand, positions, strict=True))
    return {"shape": sides.result_shape, "broadcast_dimensions": tuple(itertools.chain(*kept))}


def _pad(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    return {name: _spread(arguments[name], sides.operand, itertools.repeat(0)) for name in ("lo", "hi")}


def _shrink(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    neutral = {"lo": itertools.repeat(0), "hi": sides.operand_shape, "step": itertools.repeat(1)}
    return {name: _spread(arguments[name], sides.operand, each) for name, each in neutral.items()}


def _spread(values: Sequence[Any], dims: Sequence[range], neutral: Iterable[Any]) -> tuple[Any, ...]:
    """A value for each axis: that of its dimension where that is one axis, else the neutral one."""
    single = {dim[0]: value for dim, value in zip(dims, values, strict=True) if len(dim) == 1}
    axes = itertools.chain(*dims)
    return tuple(single.get(axis, default) for axis, default in zip(axes, neutral, strict=False))


def _axes(arguments: Mapping[str, Any], sides: _Sides) -> AxisArguments:
    return {"axes": _axes_of(sides.operand, arguments["axes"])}


def _axes_of(dims: Sequence[range], positions: Sequence[int]) -> tuple[int, ...]:
    return tuple(axis for position in positions for axis in dims[position])


_RULES: Mapping[str, Callable[[Mapping[str, Any], _Sides], AxisArguments]] = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _axes,
    "reduce": _axes,
}
