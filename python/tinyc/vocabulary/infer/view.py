"""Typing of `view`: an affine map whose indices stay inside the operand."""

from collections.abc import Sequence

from tinyc.diagnostics import TinycError
from tinyc.expr import axes, index_map
from tinyc.expr.axes import AxisExpr
from tinyc.expr.extents import Dim
from tinyc.expr.isl.ranges import exact_range
from tinyc.vocabulary.infer.rule import Arguments, Assumption, Inferred, Operands, Rule, listed, require_le, typed


def _view(operands: Operands, arguments: Arguments) -> Inferred:
    (source,), shape, indices = operands, arguments["shape"], arguments["map"]
    if len(indices) != source.rank:
        raise TinycError(
            "InvalidAttribute",
            f"index_map has {len(indices)} expressions for the {source.rank} axes of {source}; give one for each",
        )
    assumptions: list[Assumption] = []
    for axis, (index, extent) in enumerate(zip(indices, source.shape, strict=True)):
        _require_affine(axis, index, shape)
        if 0 not in shape:
            assumptions += _require_inside(axis, index, extent, shape)
    return typed(source.element, shape, *assumptions)


def _require_affine(axis: int, index: AxisExpr, shape: Sequence[Dim]) -> None:
    """Check what an expression is made of: axes of the result, forwards, and not too many divisions."""
    if any(position >= len(shape) for position in axes.positions(index)):
        raise TinycError("InvalidAttribute", f"index_map expression '{index}' has an axis beyond {listed(shape)}")
    index_map.require_nonnegative_strides(index)
    divisions = index_map.count_divisions(index)
    if divisions > index_map.MAX_VIEW_DIVISIONS:
        raise TinycError(
            "ExcessivePiecewise",
            f"index_map expression {axis} has {divisions} divisions; the limit is {index_map.MAX_VIEW_DIVISIONS}. "
            "Split the VIEW into several movements",
        )


def _require_inside(axis: int, index: AxisExpr, extent: Dim, shape: Sequence[Dim]) -> list[Assumption]:
    low, high = axes.plain_bounds(index, tuple(shape))
    static = [size for size in shape if isinstance(size, int)]
    inside = isinstance(low, int) and isinstance(high, int) and isinstance(extent, int) and 0 <= low <= high < extent
    if isinstance(extent, int) and len(static) == len(shape) and not inside:
        low, high = exact_range(index, static)

    def error() -> TinycError:
        return TinycError(
            "IndexOutOfBounds",
            f"index_map expression '{index}' reaches from {low} to {high}, outside operand axis "
            f"{axis} of extent {extent}; change result_shape or the expression, or pad the operand first",
        )

    return [*require_le(0, low, error), *require_le(high + 1, extent, error)]


RULES: dict[str, Rule] = {"view": _view}
