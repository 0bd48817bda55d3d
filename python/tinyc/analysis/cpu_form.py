"""Which form the loops of a kernel have on a CPU, decided from its fused loops alone.

Formation asks for a kernel that it proposes (`schemes.cpu`), and code for one that there is (`loop_nest`): what is
priced is what is built. Axes that only another kernel splits make no difference.

In: fused loops, or why there are none. Out: a form, with the reason. What a form needs besides is in `cpu_product` and
`cpu_steps`.
"""

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
from tinyc.expr import axes, extents
from tinyc.expr.axes import Axis
from tinyc.target import CpuTarget


class CpuForm(enum.Enum):
    """The loops of a kernel."""

    PRODUCT = "a matrix product, in tiles"
    SCAN = "one scan, with what is element-wise around it"
    STEPS = "the steps of the fused loops, phase by phase"
    ELEMENTS = "each element of a result by itself, with the reductions that it reads"


@dataclass(frozen=True)
class CpuFormChoice:
    """A form, and why it is that one."""

    form: CpuForm
    reason: str


def cpu_form(loops: FusedLoops | str, target: CpuTarget) -> CpuFormChoice:
    """The form of a kernel of these loops: the first that it can have."""
    if isinstance(loops, str):
        return CpuFormChoice(CpuForm.ELEMENTS, loops)
    if not isinstance(product_loops(loops, target), str):
        return CpuFormChoice(CpuForm.PRODUCT, "it is a contraction")
    if not _why_no_sole_scan(loops):
        return CpuFormChoice(CpuForm.SCAN, "it is a scan")
    late = next((phase for phase in loops.phases if phase.inner), None)
    if late is not None and not loops.reductions:
        reason = f"no phase reduces, and '{late.block.name}' has other loops than the others"
        return CpuFormChoice(CpuForm.ELEMENTS, reason)
    held = held_rows(loops, 1, (), target)
    if isinstance(held, str):
        return CpuFormChoice(CpuForm.ELEMENTS, held)
    return CpuFormChoice(CpuForm.STEPS, "its phases share the loops")


#: Rows or columns of a tile that are a vector at least.
_FEWEST = 8
#: Columns that are better than rows whose number is not known, which may be one.
_FEWEST_KNOWN = 4

# --- products ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProductLoops:
    """A product over the columns of the loop at position `columns`, and the rows of the one at position `rows`.

    `has_columns_left` says that the left factor has the columns, and the right one the rows. A vector times a matrix
    has no loop of rows.
    """

    rows: int | None
    columns: int
    has_columns_left: bool


def product_loops(loops: FusedLoops, target: CpuTarget) -> ProductLoops | str:
    """The loops of rows and columns that tiles of a product run over, or why there are no tiles."""
    if loops.why_no_product:
        return loops.why_no_product
    (phase,) = loops.reductions
    left, right = (_axes_called(phase, phase.block.attributes[side]) for side in ("lhs_idx", "rhs_idx"))
    if not phase.loops:
        return "its last loop is not along the columns of one operand"
    place, rows = _columns_and_rows(loops, left, right, target)
    columns = phase.loops[place]
    if (columns in left) == (columns in right):
        return "its last loop is not along the columns of one operand"
    if not rows:
        far_apart = any(jumps(read, columns) for read in phase.block.accesses)
        return "its columns are apart in memory" if far_apart else ProductLoops(None, place, columns in left)
    if few := _few_rows(loops, place, rows[-1], target):
        return few
    return ProductLoops(rows[-1], place, columns in left)


def _few_rows(loops: FusedLoops, columns: int, rows: int, target: CpuTarget) -> str:
    """Why the loop at position `rows` is too short beside the one at `columns`, empty where it is not."""
    (phase,) = loops.reductions
    extent, fewest = loops.extents[rows], target.rows_worth_packing
    if not isinstance(extent, int) or extent >= fewest:
        return ""
    far_apart = any(jumps(read, phase.loops[columns]) for read in phase.block.accesses)
    return f"{extent} rows are not worth the transposition of the columns, {fewest} are" if far_apart else ""


def _columns_and_rows(
    loops: FusedLoops, left: frozenset[int], right: frozenset[int], target: CpuTarget
) -> tuple[int, Sequence[int]]:
    """The place of the loop along the columns, the last one, and those of loops along rows.

    Where that is short, both are along the last long loops, if there are such: the phases of a transposed convolution,
    which are few, are inside the places that they are phases of. A batch that is small, or not known, is no number of
    rows for a convolution of 7 by 7 places, whose channels are.
    """
    axes_of_loops = loops.reductions[0].loops
    last = len(axes_of_loops) - 1
    is_known = [isinstance(extent, int) for extent in loops.extents]
    is_long = [not isinstance(extent, int) or extent >= _FEWEST for extent in loops.extents]

    def rows_at(place: int) -> list[int]:
        along = right - left if axes_of_loops[place] in left else left - right
        return [position for position, axis in enumerate(axes_of_loops) if axis in along]

    columns = next((place for place in range(last, -1, -1) if is_long[place]), last)
    rows = [place for place in rows_at(columns) if is_long[place]]
    is_one_side = (axes_of_loops[columns] in left) != (axes_of_loops[columns] in right)
    if columns == last or not rows or not is_one_side:
        return last, rows_at(last)
    is_few = _few_rows(loops, columns, rows[-1], target) != ""
    is_wide = extents.is_nonnegative(loops.extents[last] - _FEWEST_KNOWN)
    may_be_few = is_wide and not any(is_known[place] for place in rows)
    others = [place for place in rows_at(last) if is_known[place] and is_long[place]]
    return (last, others) if others and (is_few or may_be_few) else (columns, rows)


def _axes_called(phase: Phase, names: Collection[str]) -> frozenset[int]:
    """The axes of a phase that have these names, or parts with these."""
    called = {name.partition(".")[0] for name in names}
    return frozenset(position for position, name in enumerate(phase.block.statement.axes) if name in called)


def jumps(read: PolyAccess, axis: int | None) -> bool:
    """Whether an access reads along an axis, and not neighbours in memory."""
    moving = [row for row in read.index if row.terms]
    along = [row for row in moving if axis in axes.positions(row)]
    return bool(along) and (along != moving[-1:] or dict(along[0].terms).get(Axis(axis or 0)) != 1)


# --- scans ------------------------------------------------------------------------------------------------------------


def _why_no_sole_scan(loops: FusedLoops) -> str:
    """Why the phases are not one scan and results at its elements, which its loops can write; empty where they are."""
    if loops.why_no_scan:
        return loops.why_no_scan
    shape = loops.reductions[0].block.written_shape
    other = next((phase for phase in loops.phases if phase.block.written_shape != shape), None)
    return f"'{other.block.name}' has another shape than the scan" if other else ""


# --- steps ------------------------------------------------------------------------------------------------------------


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
