"""The load slot of each operand: what brings its tiles to shared memory, and how they lie there.

In: an operand's access, its tile, what the plan says. Out: a `Load`: a copy by TMA or cp.async where the operand lies
in a buffer such that these can take it; where it has to be computed, or lies across k, and warpgroups multiply it as A,
a copy of what it is computed from, which they make factors of in their registers; else through registers, element by
element. `needs` are extents that have to be multiples, at run time, of a number: a kernel with such loads is launched
where they are, another one, made with `guarded` false, elsewhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from tinyc.analysis.candidate import MatrixProduct, ProductOperand
from tinyc.analysis.strided_access import AxisRun, StridedAccess
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.plan.fields import Plan
from tinyc.schemes.mma.matrix_unit import MatrixUnit
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.vocabulary.element_type import ElementType

if TYPE_CHECKING:  # plans are judged without MLIR
    from tinyc.dialects.gpu.shared_layout import Order

#: Extents, in elements, each with what it has to be a multiple of.
Needs: TypeAlias = tuple[tuple[Dim, int], ...]
#: PTX ISA and CUDA driver API, cuTensorMapEncodeTiled: strides are multiples of 16 bytes, maps have 5 dimensions.
TMA_BYTES = 16
TMA_RANK = 5
#: What a coordinate of TMA, a signed number of 32 bits, counts to.
TMA_EXTENT = 2**31 - 1
#: PTX ISA, cp.async: what one copies.
WIDEST_COPY_BYTES = 16
_COPY_BYTES = (WIDEST_COPY_BYTES, 8, 4)
#: Bytes of the widest elements that warpgroups make factors of.
_SOURCE_BYTES = 4
#: The orders of A's and of B's tiles in which k is contiguous.
_K_MAJOR: "tuple[Order, Order]" = ("row", "col")
#: Bytes of a register.
_WORD_BYTES = 4
#: What a swizzle spans, the widest first: the side that is contiguous is cut into slabs of as many bytes.
_SWIZZLES = (128, 64, 32)


@dataclass(frozen=True)
class Load:
    """How the tiles of an operand come to shared memory.

    `bytes` is what one copy takes, `order` which side is contiguous in shared memory ("row": columns are neighbours),
    `swizzle` its span in bytes, 0 for none. `needs` has pairs of an extent, in elements, and what it is a multiple of.
    `reason` completes "since …" where TMA, or cp.async, would have been better. `source` is the element type of what is
    copied where factors are made of it in the registers of those that multiply; None where tiles have the factors.
    """

    kind: Literal["tma", "cp_async", "registers"]
    bytes: int
    order: "Order"
    swizzle: int
    needs: Needs = ()
    reason: str = ""
    source: ElementType | None = None

    def element(self, unit: MatrixUnit) -> ElementType:
        """The element type of the tiles in shared memory."""
        return self.source or unit.factor

    def is_read_by_words(self, side: int, unit: MatrixUnit) -> bool:
        """Whether warps load A (0) or B (1) word by word from where it is: ldmatrix transposes 16 bits only."""
        return not unit.is_wgmma and unit.factor.size_bytes == _WORD_BYTES and self.order != _K_MAJOR[side]


@dataclass(frozen=True)
class Loading:
    """What a plan says of loads: whether they are copies that run by themselves, and which operands are swizzled.

    Without `guarded` the kernel is for sizes of which nothing is known.
    """

    asynchronous: bool = True
    swizzled: tuple[bool, bool] = (True, True)
    guarded: bool = True

    @property
    def transposed(self) -> "Loading":
        """The same of the operands in the other order."""
        return replace(self, swizzled=self.swizzled[::-1])


def loading_of(plan: Plan) -> Loading:
    """What `async` and `layout_hints` say; both are on where they are not given."""
    hints = plan.layout_hints or {}
    is_on = plan.asynchronous is None or plan.asynchronous["enable"]
    return Loading(is_on, (hints.get("A_swizzle", True), hints.get("B_swizzle", True)))


def tile_loads(tiling: MmaTiling, loading: Loading, product: MatrixProduct, unit: MatrixUnit) -> tuple[Load, Load]:
    """The loads of both operands, for a tiling."""
    (bm, bn, bk), (wm, wn) = tiling.tile, tiling.unit_tile
    is_on, (a, b), guarded = loading.asynchronous, loading.swizzled, loading.guarded
    # A slab that wgmma reads is not shared by warpgroups.
    rows, columns = (wm, wn) if unit.is_wgmma else (bm, bn)
    return (
        load_of(product.lhs, (rows, bk), _K_MAJOR[0], unit, is_on, a, guarded),
        load_of(product.rhs, (bk, columns), _K_MAJOR[1], unit, is_on, b, guarded),
    )


def staged_elements(loading: Loading, product: MatrixProduct, unit: MatrixUnit) -> tuple[ElementType, ElementType]:
    """The element types of both operands' tiles in shared memory, which do not depend on the tiling."""
    least = MmaTiling((unit.rows, 8, unit.depth), (unit.rows, 8), unit.threads, stages=2)
    a, b = tile_loads(least, loading, product, unit)
    return a.element(unit), b.element(unit)


def load_of(
    operand: ProductOperand,
    tile: tuple[int, int],
    k_major: "Order",
    unit: MatrixUnit,
    asynchronous: bool = True,
    swizzled: bool = True,
    guarded: bool = True,
) -> Load:
    """The load of an operand of which a unit, or a CTA, has `tile`; `k_major` is the order in which k is contiguous."""
    access = operand.access
    reason = _why_computed(access, k_major, unit)
    order = k_major
    if not asynchronous:
        reason = reason or "'async' is not enabled"
    elif isinstance(access, StridedAccess) and not reason:
        copy = _copy(access, tile, unit, swizzled, guarded)
        if copy is not None:
            return copy
        reason = "its rows do not begin at multiples of 4 bytes, which cp.async takes"
        order = order_of(access) if unit.transposes else k_major
    elif k_major == "row" and (source := fragment_source(operand, unit)):
        copy = _copy(source, tile, unit, swizzled, guarded)
        if copy is not None:
            return replace(copy, reason=reason, source=source.element)
    swizzle = _swizzle(tile, order, unit.factor, swizzled)
    return Load("registers", unit.factor.size_bytes, order, swizzle, (), reason)


def is_copied(operand: ProductOperand, k_major: "Order", unit: MatrixUnit) -> bool:
    """Whether tiles of an operand may be copied, and multiplied as they lie in shared memory, if strides allow it."""
    return not _why_computed(operand.access, k_major, unit)


def fragment_source(operand: ProductOperand, unit: MatrixUnit) -> StridedAccess | None:
    """What warpgroups can make the factors of A of, as it lies in its buffer."""
    source = operand.source
    if not unit.is_wgmma or source is None or not source.contiguous or source.element.size_bytes > _SOURCE_BYTES:
        return None
    return source


def _why_computed(access: StridedAccess | str, k_major: "Order", unit: MatrixUnit) -> str:
    """Why elements have to pass through registers, whatever the strides; empty where they do not."""
    if isinstance(access, str):
        return access
    if access.element != unit.factor:
        return f"its elements are cast from {access.element}"
    if not access.contiguous:
        return "neither of its sides is contiguous"
    if order_of(access) != k_major and not unit.transposes:
        return f"tensor cores take {unit.factor} with k contiguous, and its other side is"
    return ""


def _copy(access: StridedAccess, tile: tuple[int, int], unit: MatrixUnit, swizzled: bool, guarded: bool) -> Load | None:
    """The copy of tiles as they lie: by TMA, or by cp.async, for a reason; None where its rows are none of copies."""
    order, element = order_of(access), access.element
    span = _swizzle(tile, order, element, swizzled)
    why_no_tma = why_no_box(access) if unit.is_wgmma else "there is no TMA before sm_90"
    if not why_no_tma:
        needs = needs_of(strides_of(access), _elements(TMA_BYTES, element), guarded)
        if needs is not None:
            return Load("tma", TMA_BYTES, order, span, needs)
        why_no_tma = f"its row pitch or its first element is not at a multiple of {TMA_BYTES} bytes"
    for size in _COPY_BYTES:
        needs = copy_needs(access, size, guarded)
        if needs is not None:
            return Load("cp_async", size, order, span, needs, why_no_tma if unit.is_wgmma else "")
    return None


def order_of(access: StridedAccess) -> "Order":
    """The order of a tile in shared memory whose elements are neighbours there as they are in the buffer."""
    return "col" if access.contiguous == "rows" else "row"


def _swizzle(tile: tuple[int, int], order: "Order", element: ElementType, swizzled: bool) -> int:
    """The widest span that the contiguous side of a tile is a multiple of."""
    line_bytes = tile[1 if order == "row" else 0] * element.size_bytes
    return widest_swizzle(line_bytes) if swizzled else 0


def widest_swizzle(line_bytes: int) -> int:
    """The widest span that lines of so many bytes are a multiple of; 0 where there is none."""
    return next((span for span in _SWIZZLES if line_bytes % span == 0), 0)


def why_no_box(access: StridedAccess) -> str:
    """Why no tensor map has the elements of an access, whatever the strides; empty where one may have."""
    if access.offset != 0:
        return "it does not begin where its buffer does, as a tensor map takes it"
    for name, side in (("rows", access.rows), ("columns", access.columns)):
        if len(side) > 1:
            return f"its {name} are {len(side)} runs of axes in memory, and a box of TMA has one"
    runs = (*access.rows, *access.columns, *access.batch)
    longest = max((run.extent for run in runs if isinstance(run.extent, int)), default=0)
    if longest > TMA_EXTENT:
        return f"it has {longest} elements along an axis, and TMA counts {TMA_EXTENT}"
    if 2 + len(access.batch) > TMA_RANK:
        return f"its batch is {len(access.batch)} runs of axes in memory, and a tensor map has {TMA_RANK} dimensions"
    return ""


def strides_of(access: StridedAccess) -> list[Dim]:
    """The offset and the strides that have to be multiples of what is copied: all but the contiguous one."""
    rows, columns = access.rows, access.columns
    if access.contiguous == "columns":
        columns = columns[:-1]
    else:
        rows = rows[:-1]
    return [access.offset, *(run.stride for run in (*rows, *columns, *access.batch))]


def copy_needs(access: StridedAccess, size: int, guarded: bool) -> Needs | None:
    """What has to be a multiple for copies of `size` bytes; None where something is not.

    Copies that end beyond the last neighbour take fewer bytes; a run that another one goes on from is whole copies.
    """
    inner: Sequence[AxisRun] = access.columns if access.contiguous == "columns" else access.rows
    ends = [inner[-1].extent] if len(inner) > 1 else []
    return needs_of([*strides_of(access), *ends], _elements(size, access.element), guarded)


def _elements(size: int, element: ElementType) -> int:
    return max(1, size // element.size_bytes)


def needs_of(multiples: Sequence[Dim], elements: int, guarded: bool) -> Needs | None:
    """Which of `multiples` are not known to be multiples of so many elements; None where one is none."""
    open_ones: dict[tuple[Dim, int], None] = {}
    for each in multiples:
        if extents.divide(each, elements) is not None:
            continue
        if isinstance(each, int) or not guarded:
            return None
        open_ones[each, elements] = None
    return tuple(open_ones)
