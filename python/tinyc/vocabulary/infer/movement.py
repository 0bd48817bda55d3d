"""Typing of the movements but `view`: which element goes where, and what an axis' extent becomes."""

from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.vocabulary.infer.rule import (
    Arguments,
    Assumption,
    Inferred,
    Operands,
    Rule,
    check_constant,
    listed,
    require_axes,
    require_le,
    require_one_per_axis,
    typed,
)


def _reshape(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), shape = operands, arguments["shape"]
    before, after = extents.product(source.shape), extents.product(shape)
    if before == after:
        return typed(source.element, shape)
    if extents.differ(before, after):
        raise TinycError(
            "AxisSizeMismatch",
            f"cannot reshape {listed(source.shape)} ({before} elements) to {listed(shape)} ({after} elements); "
            "the number of elements must stay the same",
        )
    return typed(source.element, shape, Assumption(before, "eq", after))


def _permute(operands: Operands, arguments: Arguments) -> Inferred:
    (source,) = operands
    perm: tuple[int, ...] = arguments["perm"]
    if sorted(perm) != list(range(source.rank)):
        raise TinycError(
            "InvalidPermutation",
            f"perm {list(perm)} is not a permutation of the {source.rank} axes 0 … {source.rank - 1} of {source}",
        )
    return typed(source.element, [source.shape[axis] for axis in perm])


def _expand(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), shape, axes = operands, arguments["shape"], arguments["broadcast_dimensions"]
    if len(axes) != source.rank or len(set(axes)) != len(axes) or any(not 0 <= a < len(shape) for a in axes):
        raise TinycError(
            "InvalidAxis",
            f"broadcast_dimensions {list(axes)} must name, for each of the {source.rank} axes of {source}, another "
            f"axis of the result {listed(shape)}",
        )
    for axis, extent in zip(axes, source.shape, strict=True):
        if extent not in (1, shape[axis]):
            raise TinycError(
                "BroadcastMismatch",
                f"cannot expand {source} to {listed(shape)}: result axis {axis} has extent {shape[axis]} and the "
                f"operand's is {extent}; only an extent of 1 can be expanded",
            )
    return typed(source.element, shape)


def _pad(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), lo, hi = operands, arguments["lo"], arguments["hi"]
    require_one_per_axis("pad", source, lo, hi)
    if any(amount < 0 for amount in (*lo, *hi)):
        raise TinycError(
            "InvalidAttribute", f"pad {[list(p) for p in zip(lo, hi, strict=True)]} is negative; slice it to cut"
        )
    check_constant(arguments["value"], source.element)
    return typed(source.element, [n + low + high for n, low, high in zip(source.shape, lo, hi, strict=True)])


def _shrink(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), lo, hi, step = operands, arguments["lo"], arguments["hi"], arguments["step"]
    require_one_per_axis("shrink", source, lo, hi, step)
    shape: list[Dim] = []
    assumptions: list[Assumption] = []
    for axis, (extent, low, high, stride) in enumerate(zip(source.shape, lo, hi, step, strict=True)):

        def error(axis: int = axis, low: Dim = low, high: Dim = high, extent: Dim = extent) -> TinycError:
            return TinycError(
                "IndexOutOfBounds",
                f"the slice of axis {axis} from {low} to {high} leaves the extent {extent}; "
                "0 <= lo <= hi <= extent must hold (hi is exclusive)",
            )

        if stride <= 0:
            raise TinycError(
                "InvalidAttribute", f"the step {stride} of axis {axis} must be positive; flip the axis to go backwards"
            )
        for small, large in ((0, low), (low, high), (high, extent)):
            assumptions += require_le(small, large, error)
        shape.append(extents.ceildiv(high - low, stride))
    return typed(source.element, shape, *assumptions)


def _flip(operands: Operands, arguments: Arguments) -> Inferred:
    require_axes(operands[0], arguments["axes"])
    return Inferred((operands[0],))


def _pool(operands: Operands, arguments: Arguments) -> Inferred:
    (source,) = operands
    kernel, stride, dilation = arguments["kernel"], arguments["stride"], arguments["dilation"]
    lengths = {len(kernel), len(stride), len(dilation)}
    if len(lengths) != 1 or not 1 <= len(kernel) <= source.rank:
        raise TinycError(
            "InvalidAttribute",
            f"there are {len(kernel)} kernel, {len(stride)} stride and {len(dilation)} dilation entries for {source}; "
            "give the same number of each, at most one for each axis",
        )
    if min((*kernel, *stride, *dilation)) < 1:
        raise TinycError("InvalidAttribute", "kernel, stride and dilation must be positive")
    lead = source.rank - len(kernel)
    out: list[Dim] = []
    assumptions: list[Assumption] = []
    for axis, (size, step, spread) in enumerate(zip(kernel, stride, dilation, strict=True), lead):
        extent, window = source.shape[axis], spread * (size - 1) + 1

        def error(axis: int = axis, window: int = window, extent: Dim = extent) -> TinycError:
            return TinycError(
                "WindowTooLarge",
                f"the window of {window} elements is larger than axis {axis} of extent {extent}; pad it first",
            )

        assumptions += require_le(window, extent, error)
        out.append(extents.floordiv(extent - window, step) + 1)
    return typed(source.element, (*source.shape[:lead], *out, *kernel), *assumptions)


RULES: dict[str, Rule] = {
    "reshape": _reshape,
    "permute": _permute,
    "expand": _expand,
    "pad": _pad,
    "shrink": _shrink,
    "flip": _flip,
    "pool": _pool,
}
