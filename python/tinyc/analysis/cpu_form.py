"""Which form the loops of a kernel have on a CPU, decided from its fused loops alone.

Formation asks for a kernel that it proposes (`schemes.cpu`), and code for one that there is (`loop_nest`): what is
priced is what is built. Axes that only another kernel splits make no difference.

In: fused loops, or why there are none. Out: a form, with the reason. What a form needs besides is in `cpu_product` and
`cpu_steps`.
"""

import enum
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis
from tinyc.expr.extents import Dim
from tinyc.target import CpuTarget


class CpuForm(enum.Enum):
    """The loops of a kernel."""

    PRODUCT = "a matrix product, in tiles"
    ATTENTION = "two products with a softmax between them, in tiles of queries and keys"
    SCAN = "one scan, with what is element-wise around it"
    STEPS = "the steps of the fused loops, phase by phase"
    ELEMENTS = "each element of a result by itself, with the reductions that it reads"


@dataclass(frozen=True)
class CpuFormChoice:
    """A form, and why it is that one."""

    form: CpuForm
    reason: str


#: Why a kernel has a form that it can have, in the order in which they are asked.
_REASONS = {
    CpuForm.PRODUCT: "it is a contraction",
    CpuForm.ATTENTION: "it is a sum of values that a softmax weighs",
    CpuForm.SCAN: "it is a scan",
    CpuForm.STEPS: "its phases share the loops",
}


def cpu_form(loops: FusedLoops | str, target: CpuTarget) -> CpuFormChoice:
    """The form of a kernel of these loops: the first that it can have."""
    why_not = ""
    for form, reason in _REASONS.items():
        why_not = why_no_form(loops, form, target)
        if not why_not:
            return CpuFormChoice(form, reason)
    return CpuFormChoice(CpuForm.ELEMENTS, why_not)


def why_no_form(loops: FusedLoops | str, form: CpuForm, target: CpuTarget) -> str:
    """Why a kernel of these loops cannot have a form; empty where it can."""
    if form is CpuForm.ELEMENTS:
        return ""
    if isinstance(loops, str):
        return loops
    if form is CpuForm.PRODUCT:
        product = product_loops(loops, target)
        return product if isinstance(product, str) else ""
    if form is CpuForm.ATTENTION:
        attention = attention_loops(loops)
        return attention if isinstance(attention, str) else ""
    return _why_no_sole_scan(loops) if form is CpuForm.SCAN else _why_no_steps(loops, target)


#: Elements that far apart in memory are mostly in one line of a cache with the next one.
_LONGEST_STRIDE = 4
#: Columns of a tile that are a vector at least, and of those the ones of the last loop.
_FEWEST_COLUMNS, _FEWEST_INSIDE = 8, 4

# --- products ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProductLoops:
    """A product over the columns of the loops at positions `columns`, and the rows of those at `rows`, outermost first.

    `has_columns_left` says that the left factor has the columns, and the right one the rows. A vector times a matrix
    has no loop of rows.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    has_columns_left: bool


def product_loops(loops: FusedLoops, target: CpuTarget, has_columns_left: bool | None = None) -> ProductLoops | str:
    """The loops of rows and columns that tiles of a product run over, or why there are no tiles.

    Which factor has the columns is decided by the loops, unless it is said.
    """
    if loops.why_no_product:
        return loops.why_no_product
    (phase,) = loops.reductions
    left, right = (_axes_called(phase, phase.block.attributes[side]) for side in ("lhs_idx", "rhs_idx"))
    sides = {True: _places(phase, left - right), False: _places(phase, right - left)}
    if has_columns_left is None:
        has_columns_left = _has_columns_left(loops, sides)
    if has_columns_left is None or not sides[has_columns_left]:
        return "its last loop is not along the columns of one operand"
    found = ProductLoops(sides[not has_columns_left], sides[has_columns_left], has_columns_left)
    if not any(jumps(read, phase.loops[found.columns[-1]]) for read in phase.block.accesses):
        return found
    if not found.rows:
        return "its columns are apart in memory"
    rows, fewest = extents.product([loops.extents[place] for place in found.rows]), target.rows_worth_packing
    if isinstance(rows, int) and rows < fewest:
        return f"{rows} rows are not worth the transposition of the columns, {fewest} are"
    return found


def _has_columns_left(loops: FusedLoops, sides: Mapping[bool, tuple[int, ...]]) -> bool | None:
    """Whether the left operand has the columns, given the loops of each one's side; None where there are none.

    They are along the last loops, but not along so few places that another side fills vectors better: the phases of a
    transposed convolution are few, and so are the places of an image that is 2 by 2, unlike its channels.
    """
    side_of = {place: is_left for is_left, places in sides.items() for place in places}
    last = len(loops.extents) - 1
    for place in range(last, -1, -1):
        is_left = side_of.get(place)
        if is_left is None:
            if _fills_vectors(loops.extents[place : place + 1]):
                break
            continue
        columns, rows = ([loops.extents[each] for each in sides[side]] for side in (is_left, not is_left))
        if _fills_vectors(columns) and (is_left == side_of.get(last) or _may_fill_vectors(rows)):
            return is_left
    return side_of.get(last)


def _fills_vectors(run: Sequence[Dim]) -> bool:
    """Whether loops together are a vector at least, and the last one much of it; one that is not known is."""
    known = math.prod(extent for extent in run if isinstance(extent, int))
    return not isinstance(run[-1], int) or (run[-1] >= _FEWEST_INSIDE and known >= _FEWEST_COLUMNS)


def _may_fill_vectors(run: Sequence[Dim]) -> bool:
    """Whether loops together are a vector at least, or may be one."""
    lines = extents.product(run)
    return not isinstance(lines, int) or lines >= _FEWEST_COLUMNS


def _places(phase: Phase, axes_of_side: frozenset[int]) -> tuple[int, ...]:
    """The positions of the loops along some axes."""
    return tuple(place for place, axis in enumerate(phase.loops) if axis in axes_of_side)


def _axes_called(phase: Phase, names: Collection[str]) -> frozenset[int]:
    """The axes of a phase that have these names, or parts with these."""
    called = {name.partition(".")[0] for name in names}
    return frozenset(position for position, name in enumerate(phase.block.statement.axes) if name in called)


def jumps(read: PolyAccess, axis: int) -> bool:
    """Whether an access reads along an axis, and neither neighbours in memory nor, at a stride, what is near them."""
    moving = [row for row in read.index if row.terms]
    along = [row for row in moving if axis in axes.positions(row)]
    return bool(along) and (along != moving[-1:] or not 0 < dict(along[0].terms).get(Axis(axis), 0) <= _LONGEST_STRIDE)


# --- attention --------------------------------------------------------------------------------------------------------

#: The elements of a query and of a value, at most: what is packed of them, and sums of them, stay in the caches.
_LONGEST_HEAD = 256


@dataclass(frozen=True)
class AttentionLoops:
    """Attention over the queries of the loops at positions `queries`, outermost first, and all keys.

    Its phases are those of the scores, of their maximum and their total, and of the weighted sum. The scores' left
    operand has the keys if `has_keys_left`.
    """

    queries: tuple[int, ...]
    scores: Phase
    greatest: Phase
    total: Phase
    weighted: Phase
    has_keys_left: bool


def attention_loops(loops: FusedLoops) -> AttentionLoops | str:
    """The loops of attention that are computed in tiles, or why there are no such tiles."""
    kinds = [(phase.block.kind, phase.block.attributes.get("op")) for phase in loops.reductions]
    product = "contraction_pattern", None
    if kinds != [product, ("reduce", "max"), ("reduce", "sum"), product]:
        return "its reductions are not two products, and a maximum and a sum between them"
    scores, greatest, total, weighted = loops.reductions
    side = weighted.block.attributes.get("softmax")
    if side is None or len(loops.products) != 2:
        return f"'{weighted.block.name}' is no matrix product whose weights are a softmax"
    own = {phase.block.name for phase in (scores, greatest, total)}
    for phase in loops.phases:
        is_behind = not phase.is_reduction and own.isdisjoint(read.tensor for read in phase.block.accesses)
        if not (phase.is_reduction or is_behind) or phase.block.attributes.get("moved_products"):
            return f"'{phase.block.name}' is not made of the weighted sum alone"
    if own & loops.results:
        return "its scores, or what they sum up to, are results"
    why_not = _why_no_rows_of_keys(scores, (greatest, total, weighted))
    return why_not or _attention_of(loops, side == "lhs")


def _why_no_rows_of_keys(scores: Phase, readers: Sequence[Phase]) -> str:
    """Why `readers` do not reduce rows of scores, each of which they read as it is; empty where they do."""
    block = scores.block
    weighted = readers[-1]
    if len(scores.inner) != 1 or len(scores.reduced) != 1 or len(weighted.inner) != 1:
        return "a query, a key or a value has several axes"
    lengths = (*scores.reduced_extents, *weighted.inner_extents)
    if not all(isinstance(length, int) and length <= _LONGEST_HEAD for length in lengths) or not lengths[-1]:
        return f"a query or a value is longer than {_LONGEST_HEAD}, or a value has no elements"
    if not block.element.is_float or block.element != block.element.accumulator:
        return "scores are rounded, or integers"
    if weighted.block.element.accumulator != block.element:
        return "values are summed up in another type than scores"
    row = [axes.plain_axis(each) for each in block.write].index(scores.inner[0])
    for phase in readers:
        is_row = len(phase.reduced) == 1 and phase.reduced_extents == weighted.reduced_extents
        if not is_row or (phase.inner and phase is not weighted):
            return f"'{phase.block.name}' does not reduce the row of scores that values are weighted by"
        reads = [read for read in phase.block.accesses if read.tensor == block.name]
        if not reads or any(read.guards or axes.plain_axis(read.index[row]) != phase.reduced[0] for read in reads):
            return f"'{phase.block.name}' does not read scores as they are"
    return ""


def _attention_of(loops: FusedLoops, has_weights_left: bool) -> AttentionLoops | str:
    """The attention whose weights are on one side of its second product."""
    scores, greatest, total, weighted = loops.reductions
    left, right = (_axes_called(scores, scores.block.attributes[side]) for side in ("lhs_idx", "rhs_idx"))
    has_keys_left = scores.inner[0] in left
    keys, others = (left, right) if has_keys_left else (right, left)
    values = _axes_called(weighted, weighted.block.attributes["rhs_idx" if has_weights_left else "lhs_idx"])
    if scores.inner[0] in others or weighted.inner[0] not in values:
        return "its keys are no side of a product"
    of_queries = _places(scores, others - keys)
    queries = tuple(place for place in of_queries if weighted.loops[place] not in values)
    lines = extents.product([loops.extents[place] for place in queries])
    if not queries or (isinstance(lines, int) and lines < _FEWEST_COLUMNS):
        return f"{lines if queries else 0} queries that share their keys are not worth their tiles"
    return AttentionLoops(queries, scores, greatest, total, weighted, has_keys_left)


# --- scans ------------------------------------------------------------------------------------------------------------


def _why_no_sole_scan(loops: FusedLoops) -> str:
    """Why the phases are not one scan and results at its elements, which its loops can write; empty where they are."""
    if loops.why_no_scan:
        return loops.why_no_scan
    shape = loops.reductions[0].block.written_shape
    other = next((phase for phase in loops.phases if phase.block.written_shape != shape), None)
    return f"'{other.block.name}' has another shape than the scan" if other else ""


# --- steps ------------------------------------------------------------------------------------------------------------


def _why_no_steps(loops: FusedLoops, target: CpuTarget) -> str:
    """Why the phases are not computed step by step; empty where they can be."""
    late = next((phase for phase in loops.phases if phase.inner), None)
    if late is not None and not loops.reductions:
        return f"no phase reduces, and '{late.block.name}' has other loops than the others"
    held = held_rows(loops, 1, (), target)
    return held if isinstance(held, str) else ""


def held_rows(loops: FusedLoops, steps: int, kept: Collection[str], target: CpuTarget) -> Mapping[str, int] | str:
    """The bytes of each phase that `steps` which are computed together hold for later ones, or why they cannot.

    Of a step alone, one number is in a register. Of the phases `kept`, which do not reduce, all is held.
    """
    held: dict[str, int] = {}
    for phase in loops.phases:
        name = phase.block.name
        elements = extents.product(phase.inner_extents) if name in kept else loops.held_elements(phase)
        if elements == 0 or not (phase.inner or steps > 1):
            continue
        if not isinstance(elements, int):
            return f"a step reads {elements} elements of '{name}'; only a number of them can be held"
        held[name] = elements * steps * phase.block.element.accumulator.size_bytes
    if sum(held.values()) > target.step_bytes:
        return f"a step holds {sum(held.values())} bytes; the limit is {target.step_bytes}"
    return held
