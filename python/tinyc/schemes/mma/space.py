"""The tilings that there are: what the template can be filled with, and what a plan leaves of it.

In: what a plan has given, a case. Out: tilings to choose from, and what keeps one from being a kernel of the template.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import TypeGuard

from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.given import Given
from tinyc.schemes.mma.loads import staged_elements, tile_loads
from tinyc.schemes.mma.orientation import Orientation, orientation_of
from tinyc.schemes.mma.resources import mma_resources, most_stages
from tinyc.schemes.mma.tiling import Algorithm, MmaTiling, Schedule
from tinyc.vocabulary.element_type import ElementType

#: Sides of tiles that are tried where a plan leaves them free.
_ROWS = {16: (16, 32, 64, 128, 256), 64: (64, 128, 192, 256)}
_COLUMNS = {16: (16, 32, 64, 128, 256), 64: (16, 32, 64, 128, 192, 256)}
#: What is no longer is one tile, to a piece of 8, or of the 16 that a line of 32 bytes has.
_SHORT = 48
_PIECES = (8, 16)
#: Bytes of a tile along k.
_DEPTHS = {16: (64, 128), 64: (128,)}
#: Accumulators of a warp that are tried; a warpgroup has whole rows of tiles, or half ones.
_WARP_TILES = ((64, 64), (64, 32), (32, 64), (32, 32), (16, 64), (16, 32), (16, 16), (64, 16), (32, 16))
_STAGES_OF_WARPS = (4, 3, 5)
_MOST_WARPS = 8
_WAYS_TO_SHARE = 3
#: Warpgroups that multiply: what registers have room for beside a producer, and without one.
_MOST_GROUPS = 3
_MOST_SIMPLE_GROUPS = 4
#: `setmaxnreg` of producers and consumers, by the number of consumers: their sum is what a launch can have.
ROLE_REGISTERS = {1: (40, 232), 2: (40, 232), 3: (32, 160)}
#: Slices of k that are tried, and the tiles along k that each has at least.
_MOST_SLICES = 32
_STEPS_OF_A_SLICE = 4
#: Rows and columns of tiles of which slices of k are tried.
_LEAST_SLICED = 64
#: Of a thread of a warpgroup, with which none of the kernels of these tiles spills.
_MOST_ACCUMULATORS = 128
#: TMA: a box has at most as many elements along a side.
_BOX_SIDE = 256


def tilings(given: Given, case: MmaCase) -> Iterator[MmaTiling]:
    """Yield the tilings that keep what is given: each tile with each of its ways to be shared out among units."""
    orientation = orientation_of(case)
    for is_transposed in _orientations(given, case, orientation):
        if is_transposed:
            found = (each.transposed for each in _upright(given.transposed, case.transposed))
        else:
            found = _upright(given, case)
        yield from (each for each in found if orientation.transposes(*each.unit_tile) == is_transposed)


def _orientations(given: Given, case: MmaCase, orientation: Orientation) -> tuple[bool, ...]:
    """Whether units compute the transposed output: where that is left open, as they do that of usual ones."""
    if given.is_transposed is not None:
        return (given.is_transposed,)
    if given.tile[:2] != (None, None) or given.unit_tile is not None:
        return False, True
    rows, columns = (_fitting(side)[0] if _is_short(side) else case.unit.rows for side in case.lengths[:2])
    is_transposed = orientation.transposes(rows, columns)
    # The other way has tiles, too, that are wider than a short n.
    return (False, True) if orientation.prefers_transposed and not is_transposed else (is_transposed,)


def _upright(given: Given, case: MmaCase) -> Iterator[MmaTiling]:
    """Yield the tilings whose rows are along an instruction's."""
    kind, (m, n, k, _) = case.unit.rows, case.lengths
    held = staged_elements(given.loading, case.product, case.unit)
    depths = tuple(size // case.unit.factor.size_bytes for size in _DEPTHS[kind])
    columns = _fitting(n) if _is_short(n) else _worthwhile(_COLUMNS[kind], n)
    free = _worthwhile(_ROWS[kind], m), columns, _worthwhile(depths, k)
    sides = ((side,) if side else tried for side, tried in zip(given.tile, free, strict=True))
    for bm, bn, bk in itertools.product(*sides):
        for schedule in given.schedules:
            for unit_tile in _unit_tiles(given, (bm, bn), schedule, case):
                plain = _plain(given, (bm, bn, bk), unit_tile, schedule, case)
                yield from _filled(plain, given, held, case)


def _worthwhile(sides: tuple[int, ...], length: Dim) -> list[int]:
    """The sides of tiles that are not twice as long as needed."""
    return [side for side in sides if side == sides[0] or not isinstance(length, int) or side < 2 * length]


def _is_short(length: Dim) -> TypeGuard[int]:
    return isinstance(length, int) and length <= _SHORT


def _fitting(length: int) -> list[int]:
    """The sides of tiles that are the only one along a short axis."""
    return sorted({-(-length // piece) * piece for piece in _PIECES})


def _unit_tiles(given: Given, tile: tuple[int, int], schedule: Schedule, case: MmaCase) -> Iterator[tuple[int, int]]:
    """Yield the accumulators that a unit may have of a tile."""
    bm, bn = tile
    if given.unit_tile is not None:
        yield given.unit_tile
    elif not case.unit.is_wgmma:
        fitting = [(wm, wn) for wm, wn in _WARP_TILES if bm % wm == 0 and bn % wn == 0]
        fitting = [(wm, wn) for wm, wn in fitting if bm * bn // (wm * wn) <= _MOST_WARPS]
        yield from fitting[:_WAYS_TO_SHARE] or _of_whole_rows(tile)
    elif schedule == "pingpong":
        yield tile
    else:
        rows = [bm // parts for parts in (1, 2, 3, 4) if bm % (parts * case.unit.rows) == 0]
        yield from ((each, bn) for each in rows or [bm])
        if bn % 128 == 0:
            yield bm, bn // 2


def _of_whole_rows(tile: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the accumulators of a warp that has whole rows of a tile, whose columns nothing else divides."""
    bm, bn = tile
    sides = [wm for wm in (64, 32, 16) if bm % wm == 0 and bm // wm <= _MOST_WARPS]
    yield from ((wm, bn) for wm in sides or [bm if bm % 16 else 16])  # what is not made of 16 rows is refused so


def _plain(
    given: Given, tile: tuple[int, int, int], unit_tile: tuple[int, int], schedule: Schedule, case: MmaCase
) -> MmaTiling:
    """The tiling of a tile in units."""
    return MmaTiling(tile, unit_tile, case.unit.threads, given.stages or 2, schedule, wait_depth=given.wait_depth or 0)


def _filled(
    plain: MmaTiling, given: Given, held: tuple[ElementType, ElementType], case: MmaCase
) -> Iterator[MmaTiling]:
    """Yield the tilings of a tile in units, by their stages, of tiles of `held`, clusters, and slices of k."""
    tile = plain.tile
    if case.unit.is_wgmma and given.unit_tile is None and plain.accumulators_per_thread > _MOST_ACCUMULATORS:
        return
    if plain.is_persistent:
        plain = replace(plain, registers=given.registers or ROLE_REGISTERS.get(plain.consumers, (24, 240)))
    if given.stages:
        depths: tuple[int, ...] = (given.stages,)
    elif case.unit.is_wgmma:
        depths = _stages_of_groups(plain, given, held, case)
    else:
        depths = _STAGES_OF_WARPS
    # Two CTAs share the operand of which a tile has more.
    pair = (2, 1) if tile[1] >= tile[0] else (1, 2)
    tiles = plain.tiles_of(case.product)[pair.index(2)]
    may_share = plain.is_persistent and tiles != 1
    clusters = (given.cluster,) if given.cluster else ((1, 1), pair) if may_share else ((1, 1),)
    slices = list(_slices(given, tile, case))
    for stages, cluster, (algorithm, parts) in itertools.product(depths, clusters, slices):
        yield replace(plain, stages=stages, cluster=cluster, algorithm=algorithm, slices=parts)


def _stages_of_groups(
    plain: MmaTiling, given: Given, held: tuple[ElementType, ElementType], case: MmaCase
) -> tuple[int, ...]:
    """As many stages as an SM has room for; and of CTAs that have one tile, as many as leave room for a second CTA."""
    most, fewer = (max(2, most_stages(plain, case, held, ctas=each)) for each in (1, 2))
    if plain.is_persistent or fewer == most or any(structure_faults(plain, case)):
        return (most,)
    loads = tile_loads(plain, given.loading, case.product, case.unit)
    beside = mma_resources(replace(plain, stages=fewer), case, loads).ctas_per_sm
    return (most, fewer) if beside > 1 else (most,)


def _slices(given: Given, tile: tuple[int, int, int], case: MmaCase) -> Iterator[tuple[Algorithm, int]]:
    """Yield the algorithms with their slices of k: those that are asked for, or as many as give each SM a CTA."""
    algorithms: tuple[Algorithm, ...] = ("splitk_serial", "splitk_parallel")
    if given.algorithm in algorithms:
        algorithms = (given.algorithm,)
    elif given.slices in (None, 1):
        yield "implicit_gemm", 1
        if given.slices == 1 or given.algorithm == "implicit_gemm" or not _may_slice(tile, case):
            return
    if given.slices is not None:
        yield algorithms[0], given.slices
        return
    m, n, k, batch = case.sizes
    ctas, steps = -(-m // tile[0]) * -(-n // tile[1]) * batch, -(-k // tile[2])
    fill = case.target.sms // ctas
    most = min(_MOST_SLICES, steps // _STEPS_OF_A_SLICE)
    wanted = (min(each, most) for each in (fill // 2, fill, 2 * fill))
    useful = list(dict.fromkeys(_without_empty(each, steps) for each in wanted if each >= 2))
    if given.algorithm in algorithms:
        useful = useful or [2]
    yield from itertools.product(algorithms, useful)


def _may_slice(tile: tuple[int, int, int], case: MmaCase) -> bool:
    """Whether slices of k are tried: not where larger tiles would give CTAs as much to do, with less to add up."""
    narrow = any(side < min(_LEAST_SLICED, length) for side, length in zip(tile, case.sizes[:2], strict=False))
    return case.pattern == "matmul" and not narrow


def _without_empty(slices: int, steps: int) -> int:
    """As many slices as have something of so many tiles along k, where all have as many."""
    return -(-steps // -(-steps // slices))


def structure_faults(tiling: MmaTiling, case: MmaCase) -> Iterator[tuple[str, str, str]]:
    """Yield what keeps a tiling from filling the template: the error's name, the field, and the message after it."""
    (bm, bn, bk), (wm, wn), unit = tiling.tile, tiling.unit_tile, case.unit
    name = "warpgroup" if unit.is_wgmma else "warp"
    if not unit.admits(wm, wn) and not unit.admits(wn, wm):
        instruction = f"wgmma m64nNk{unit.depth}" if unit.is_wgmma else f"mma.sync m16n8k{unit.depth}"
        message = f"is {wm}x{wn} for a {name}, not made of {instruction} for {unit.factor}; choose "
        yield "UnsupportedPlan", "warp_tile", message + _near(wm, wn, case)
    elif bm % wm or bn % wn:
        message = f"is {wm}x{wn}, and 'tile' has {bm}x{bn}, not divisible by it; choose a tile that is, or leave it out"
        yield "PlanMismatch", "warp_tile", message
    elif tiling.schedule == "pingpong" and (wm, wn) != (bm, bn):
        message = f"is {wm}x{wn}, and in the schedule 'pingpong' each warpgroup has a tile of its own; write {bm}x{bn}"
        yield "PlanMismatch", "warp_tile", message
    elif unit.is_wgmma and tiling.consumers > (most := _most_groups(tiling)):
        message = (
            f"makes {tiling.consumers} warpgroups of {bm}x{bn}, and the schedule '{tiling.schedule}' has room for "
            f"{most}; choose a larger one or a smaller tile"
        )
        yield "UnsupportedPlan", "warp_tile", message
    if bk % unit.depth:
        message = f"has {bk} along k, not a multiple of the {unit.depth} of an instruction for {unit.factor}; choose "
        yield "UnsupportedPlan", "tile", f"{message}{max(1, bk // unit.depth) * unit.depth}"
    if unit.is_wgmma and max(bm, bn) > _BOX_SIDE:
        message = f"has {bm}x{bn}, and a box of TMA has at most {_BOX_SIDE} lines; choose a smaller one"
        yield "UnsupportedPlan", "tile", message
    if tiling.cluster != (1, 1) and not tiling.is_persistent:
        message = "and the template shares loads between producers, which 'simple' has none of; write [1, 1]"
        yield "UnsupportedPlan", "cluster", f"is {'x'.join(map(str, tiling.cluster))}, {message}"
    if tiling.wait_depth and not tiling.is_persistent:
        message = f"is {tiling.wait_depth}, and in the schedule 'simple' threads wait for each product before they load"
        yield "UnsupportedPlan", "wait_depth", f"{message}; write 0, or another schedule"
    yield from _slice_faults(tiling, case)


def _slice_faults(tiling: MmaTiling, case: MmaCase) -> Iterator[tuple[str, str, str]]:
    steps = extents.ceildiv(case.product.k, tiling.tile[2])
    if isinstance(steps, int) and tiling.slices > max(1, steps):
        message = (
            f"is {tiling.slices}, and there are {steps} tiles of {tiling.tile[2]} along k; choose at most {steps}, or "
            "a 'tile' that is less deep"
        )
        yield "PlanMismatch", "split_k", message


def _near(wm: int, wn: int, case: MmaCase) -> str:
    """The `warp_tile` of a unit next to one that it cannot have."""
    rows = max(1, wm // case.unit.rows) * case.unit.rows
    columns = next(each for each in range(max(8, min(wn, 256) // 8 * 8), 0, -8) if case.unit.admits_columns(each))
    return f"{rows}x{columns}"


def _most_groups(tiling: MmaTiling) -> int:
    return _MOST_GROUPS if tiling.is_persistent else _MOST_SIMPLE_GROUPS
