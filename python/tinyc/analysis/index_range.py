"""The exact range of an index expression over a static box, by isl.

`index_map.bounds` is a closed form that treats the two sides of a sum as independent, which over-estimates where one
of them is a `mod`. Whoever is about to refuse a program on its account asks here first.
"""

from collections.abc import Sequence

from tinyc.analysis import axes, index_map
from tinyc.analysis.index_map import Index
from tinyc.analysis.limits import TooHard
from tinyc.analysis.movement import read


def exact_range(index: Index, shape: Sequence[int]) -> tuple[int, int]:
    """Return the least and the greatest value over the non-empty box ``0 <= i_k < shape[k]``.

    The closed form of `index_map.bounds`, which contains the range, where isl gives up.
    """
    import islpy as isl  # a tenth of a second, and most programs never come here

    from tinyc.analysis.axes.isl_affine import AffineFunctions
    from tinyc.analysis.isl.polyhedra import bounded

    domain = tuple(shape)
    (row,) = read("view", {"map": (index,)}, (1,), axes.identity(domain), domain).index
    box = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(shape)))
    for axis, extent in enumerate(shape):
        box = box.lower_bound_val(isl.dim_type.set, axis, isl.Val(0))
        box = box.upper_bound_val(isl.dim_type.set, axis, isl.Val(str(extent - 1)))
    try:
        with bounded():
            function = AffineFunctions(box.get_space(), ()).affine(row)
            values = isl.PwAff.from_aff(function).intersect_domain(box)
            return values.min_val().to_python(), values.max_val().to_python()
    except TooHard:
        low, high = index_map.bounds(index, shape)
        assert isinstance(low, int)  # the shape is static
        assert isinstance(high, int)
        return low, high
