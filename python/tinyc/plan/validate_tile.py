"""Tile and stages of scheme `naive_2x2_per_thread`: what registers and shared memory bear, and the defaults."""

from tinyc.dialects.tiny.types import bits, size_bytes
from tinyc.plan.fields import Plan
from tinyc.plan.validate_case import Case

Tile = tuple[int, int, int]

#: Threads of a block along n and along m, and the side of the square of sums that each computes at a time.
BLOCK = (16, 16)
MICRO = 2
#: Both sides of a tile are multiples of what a block covers with one square for each thread.
GRAIN = BLOCK[0] * MICRO

_TILE = (64, 64, 32)
_STAGES = 2
#: What a thread has in registers besides sums and factors: pointers, indices and loop counters.
_OTHER_REGISTERS = 32


def tile_and_stages(plan: Plan, case: Case) -> tuple[Tile, int]:
    """Return the tile and the depth of its ring: as given, else the default that shared memory has room for."""
    tile = plan.tile or _default_tile(plan, case)
    stages = plan.stages or (_STAGES if _fits(tile, _STAGES, case) else 1)
    _check_sides(tile, case)
    _check_registers(tile, case)
    _check_shared(tile, stages, case)
    return tile, stages


def _default_tile(plan: Plan, case: Case) -> Tile:
    """Return the tile that `split` says; what it leaves open is as usual, with shorter steps of k for wide elements."""
    split = plan.split or {}
    bm, bn, bk = (split.get(axis, size) for axis, size in zip("mnk", _TILE, strict=True))
    while "k" not in split and bk > 1 and not _fits((bm, bn, bk), plan.stages or _STAGES, case):
        bk //= 2
    return bm, bn, bk


def _check_sides(tile: Tile, case: Case) -> None:
    for axis, side in zip("mn", tile, strict=False):
        if side % GRAIN:
            below, above = side // GRAIN * GRAIN, -(-side // GRAIN) * GRAIN
            message = (
                f"has {side} along {axis}, and must be a multiple of {GRAIN} there: {BLOCK[0]} × {BLOCK[1]} threads "
                f"have {MICRO} × {MICRO} sums each; choose {f'{below} or ' if below else ''}{above}"
            )
            case.refuse("UnsupportedPlan", "tile", message)


def _check_registers(tile: Tile, case: Case) -> None:
    """Check that the sums of a thread, with a column and a row of factors and what goes with each column, fit.

    An estimate: of the tiles that pass, wide or high, none made ptxas spill when tried; of those beyond, some do.
    """
    bm, bn, _ = tile
    element = case.product.accumulator
    words = max(1, bits(element) // 32)
    rows, columns = -(-bm // BLOCK[1]), -(-bn // BLOCK[0])
    needed = (rows * columns + rows + 2 * columns) * words + _OTHER_REGISTERS
    limit = case.target.registers_per_thread
    if needed > limit:
        message = (
            f"is {bm} × {bn}: {rows * columns} sums in {element} for each thread, about {needed} registers per thread; "
            f"{case.target.name} has {limit} registers per thread; choose a smaller tile"
        )
        case.refuse("ResourceExceeded", "tile", message)


def _check_shared(tile: Tile, stages: int, case: Case) -> None:
    if _fits(tile, stages, case):
        return
    bm, bn, bk = tile
    product, limit = case.product, case.target.shared_bytes_per_block_static
    message = (
        f"and 'stages' take {stages} × ({bm}·{bk} {product.lhs.element} + {bk}·{bn} {product.rhs.element}) = "
        f"{_ring_bytes(tile, stages, case)} bytes of shared memory; {case.target.name} has {limit} bytes of static "
        "shared memory per block; choose a smaller tile or fewer stages"
    )
    case.refuse("ResourceExceeded", "tile", message)


def _fits(tile: Tile, stages: int, case: Case) -> bool:
    return _ring_bytes(tile, stages, case) <= case.target.shared_bytes_per_block_static


def _ring_bytes(tile: Tile, stages: int, case: Case) -> int:
    bm, bn, bk = tile
    return stages * bk * (bm * size_bytes(case.product.lhs.element) + bn * size_bytes(case.product.rhs.element))
