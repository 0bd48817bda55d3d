"""The exact range of a row of a view's map over a static box, by isl.

`axes.plain_bounds` is a closed form that treats the two sides of a sum as independent, which over-estimates where one
of them is a `mod`. Whoever is about to refuse a program on its account asks here first.
"""

from collections.abc import Sequence

from tinyc.expr import axes
from tinyc.expr.axes import AxisExpr
from tinyc.expr.isl import TooHard


def exact_range(index: AxisExpr, shape: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest value over the non-empty box ``0 <= i_k < shape[k]``.

    The closed form of `axes.plain_bounds`, which contains the range, where isl gives up.
    """
    import islpy as isl  # a tenth of a second, and most programs never come here

    from tinyc.expr.isl.functions import AffineFunctions, bounded

    domain = tuple(shape)
    row = axes.substitute_axes(index, axes.identity(domain), domain)
    box = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(shape)))
    for axis, extent in enumerate(shape):
        box = box.lower_bound_val(isl.dim_type.set, axis, isl.Val(0))
        box = box.upper_bound_val(isl.dim_type.set, axis, isl.Val(str(extent - 1)))
    try:
        with bounded():
            function = AffineFunctions(box.get_space(), ()).of(row)
            values = isl.PwAff.from_aff(function).intersect_domain(box)
            return values.min_val().to_python(), values.max_val().to_python()
    except TooHard:
        low, high = axes.plain_bounds(index, domain)
        assert isinstance(low, int)  # the shape is static
        assert isinstance(high, int)
        return low, high
