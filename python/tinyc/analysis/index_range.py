"""The exact range of an index expression over a static box, by isl.

`index_map.bounds` is a closed form that treats the two sides of a sum as independent, which over-estimates where one
of them is a `mod`. Whoever is about to refuse a program on its account asks here first.
"""

from collections.abc import Sequence
from typing import Any

from tinyc.analysis import index_map
from tinyc.analysis.index_map import Axis, Index, Quotient, Scaled, Sum


def exact_range(index: Index, shape: Sequence[int]) -> tuple[int, int]:
    """Return the least and the greatest value over the non-empty box ``0 <= i_k < shape[k]``.

    The closed form of `index_map.bounds`, which contains the range, where isl gives up.
    """
    import islpy as isl  # a tenth of a second, and most programs never come here

    from tinyc.analysis.polyhedra import TooHard, bounded

    box = isl.Set.universe(isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(shape)))
    for axis, extent in enumerate(shape):
        box = box.lower_bound_val(isl.dim_type.set, axis, isl.Val(0))
        box = box.upper_bound_val(isl.dim_type.set, axis, isl.Val(str(extent - 1)))
    try:
        with bounded():
            values = isl.PwAff.from_aff(_aff(isl, box.get_space(), index)).intersect_domain(box)
            return values.min_val().to_python(), values.max_val().to_python()
    except TooHard:
        low, high = index_map.bounds(index, shape)
        assert isinstance(low, int)  # the shape is static
        assert isinstance(high, int)
        return low, high


def _aff(isl: Any, space: Any, index: Index) -> Any:
    # Numbers go in as text: isl's integers have no limit, those of its Python interface have.
    if isinstance(index, int):
        return isl.Aff.val_on_domain_space(space, isl.Val(str(index)))
    if isinstance(index, Axis):
        return isl.Aff.var_on_domain(isl.LocalSpace.from_space(space), isl.dim_type.set, index.position)
    if isinstance(index, Sum):
        return _aff(isl, space, index.left).add(_aff(isl, space, index.right))
    inner = _aff(isl, space, index.operand)
    if isinstance(index, Scaled):
        return inner.scale_val(isl.Val(str(index.factor)))
    if isinstance(index, Quotient):
        return inner.scale_down_val(isl.Val(str(index.divisor))).floor()
    return inner.mod_val(isl.Val(str(index.divisor)))
