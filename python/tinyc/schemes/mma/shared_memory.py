"""What a kernel of scheme `mma` keeps in shared memory: stages of operands, finished elements, residuals.

In: a tiling, the element types of its tiles. Out: bytes; and what brings residuals there, which are the operands of the
epilogue that are as large as an output.
"""

import math
from collections.abc import Sequence

from tinyc.analysis.strided_access import StridedAccess
from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import TMA_BYTES, WIDEST_COPY_BYTES, Load, Needs, copy_needs
from tinyc.schemes.mma.matrix_unit import MatrixUnit
from tinyc.schemes.mma.stores import box_needs, line_bytes, store_of
from tinyc.schemes.mma.tiling import MmaTiling
from tinyc.vocabulary.element_type import ElementType

#: Where a tile in shared memory begins: as `shared_layout.TILE_ALIGNMENT`, but plans are judged without dialects.
_TILE_ALIGNMENT = 1024
#: Bytes of a line of the tiles in which a finished tile is stored.
SLAB_LINE_BYTES = 128
#: How many of these there are where the next columns are finished while some are written.
SLAB_BUFFERS = 2


def held_elements(loads: Sequence[Load], unit: MatrixUnit) -> tuple[ElementType, ElementType]:
    """The element types of both operands' tiles: of factors where the loads are not known."""
    a, b = (load.element(unit) for load in loads) if loads else (unit.factor, unit.factor)
    return a, b


def stage_bytes(tiling: MmaTiling, held: tuple[ElementType, ElementType]) -> int:
    """One tile of each operand in shared memory, each beginning where a swizzle does; `held` are their elements."""
    bm, bn, bk = tiling.tile
    sides = zip((bm, bn), held, strict=True)
    return sum(_aligned(side * bk * element.size_bytes) for side, element in sides)


def slab_columns(tiling: MmaTiling, element_bytes: int) -> int:
    """The columns of a unit's accumulators that are finished at a time, for an output of such elements."""
    return math.gcd(tiling.unit_tile[1], SLAB_LINE_BYTES // element_bytes)


def slab_bytes(tiling: MmaTiling, case: MmaCase) -> int:
    """What finished elements of each output are staged in, before they are stored.

    Where loads run ahead into the next tile, as many columns of each unit as fill a line of 128 bytes, in two stages
    that take turns, and for each output as many of what TMA brings beside the accumulators; else all of the tile, where
    the circular buffer was. Nothing where another kernel finishes them.
    """
    sizes = [each.size_bytes for each in case.outputs]
    if not tiling.finishes:
        return 0
    if not tiling.is_persistent:
        return sum(_tile_bytes(tiling, size) for size in sizes)
    residuals, stored = case.product.residuals, case.product.stored
    beside = [residuals[number].element.size_bytes for number in _boxes(tiling, residuals, stored, guarded=True)]
    areas = [tiling.unit_tile[0] * slab_columns(tiling, size) for size in sizes]
    slabs = [area * each for area, size in zip(areas, sizes, strict=True) for each in (size, *beside)]
    return SLAB_BUFFERS * tiling.consumers * sum(_aligned(slab) for slab in slabs)


def staged_residuals(
    tiling: MmaTiling,
    residuals: Sequence[StridedAccess],
    stored: Sequence[StridedAccess],
    held: tuple[ElementType, ElementType],
    guarded: bool = True,
) -> dict[int, Needs]:
    """The residuals that come to shared memory by copies of 16 bytes or by TMA, by their number, with what these need.

    TMA brings slabs of them. cp.async brings tiles to where the circular buffer was, as far as that has room beside
    what is `stored`. Others threads read from global memory: those that need more of the sizes than stores do, as
    bytes beside results of f16, and those of another type than the first one, as operands of one name have one type.
    """
    if not tiling.finishes:
        return {}
    if tiling.is_persistent:
        return _boxes(tiling, residuals, stored, guarded)
    tiles = (_tile_bytes(tiling, each.element.size_bytes) for each in stored)
    room = tiling.stages * stage_bytes(tiling, held) - sum(tiles)
    found: dict[int, Needs] = {}
    for number, access in enumerate(residuals):
        has_whole_copies = access.contiguous and line_bytes(access, tiling.unit_tile) % WIDEST_COPY_BYTES == 0
        needs = copy_needs(access, WIDEST_COPY_BYTES, guarded) if has_whole_copies else None
        size = _tile_bytes(tiling, access.element.size_bytes)
        if needs is not None and size <= room and _is_needed_by_stores(needs, tiling, stored):
            found[number] = needs
            room -= size
    return _of_one_type(found, residuals)


def _boxes(
    tiling: MmaTiling, residuals: Sequence[StridedAccess], stored: Sequence[StridedAccess], guarded: bool
) -> dict[int, Needs]:
    """The residuals that TMA brings: of a slice of k it is not known before its end whether they will be needed."""
    found: dict[int, Needs] = {}
    for number, access in enumerate(residuals if tiling.slices == 1 else ()):
        has_whole_lines = line_bytes(access, tiling.unit_tile) % TMA_BYTES == 0
        needs = box_needs(access, guarded) if has_whole_lines else None
        if needs is not None and _is_needed_by_stores(needs, tiling, stored):
            found[number] = needs
    return _of_one_type(found, residuals)


def _is_needed_by_stores(needs: Needs, tiling: MmaTiling, stored: Sequence[StridedAccess]) -> bool:
    """Whether copies need no more than stores do, so that the kernel is launched as often."""
    known = [need for each in stored for need in store_of(each, tiling.is_persistent).needs]
    return all(any(extent == other and most % multiple == 0 for other, most in known) for extent, multiple in needs)


def _of_one_type(found: dict[int, Needs], residuals: Sequence[StridedAccess]) -> dict[int, Needs]:
    """Those residuals that have the element type of the first one."""
    return {each: needs for each, needs in found.items() if residuals[each].element is residuals[min(found)].element}


def _tile_bytes(tiling: MmaTiling, element_bytes: int) -> int:
    bm, bn, _ = tiling.tile
    return _aligned(bm * bn * element_bytes)


def _aligned(size: int) -> int:
    return -(-size // _TILE_ALIGNMENT) * _TILE_ALIGNMENT
