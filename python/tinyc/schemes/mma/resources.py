"""What a kernel of scheme `mma` takes of an SM: shared memory, registers, and how many CTAs are resident.

In: a tiling, a product, its matrix unit, a target. Out: numbers, and what of them is more than the target has. Register
counts are an estimate by fragments: `ptxas` decides. Source: specification 000 §5.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tinyc.analysis.strided_access import StridedAccess
from tinyc.expr import extents
from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import WIDEST_COPY_BYTES, Load
from tinyc.schemes.mma.matrix_unit import MatrixUnit
from tinyc.schemes.mma.stores import residual_boxes, store_of
from tinyc.schemes.mma.tiling import PRODUCER_THREADS, MmaTiling
from tinyc.target.target import Target
from tinyc.vocabulary.element_type import ElementType

#: Where a tile in shared memory begins: at a multiple of what a swizzle repeats after.
_TILE_ALIGNMENT = 1024
#: Bytes of a line of the tiles in which a finished tile is stored.
SLAB_LINE_BYTES = 128
#: How many of these there are where the next columns are finished while some are written.
SLAB_BUFFERS = 2
#: What mbarriers take: a full one and an empty one of 8 bytes a stage and a few more, in a piece of its own.
BARRIER_BYTES = 1024

#: Registers besides accumulators and fragments: pointers, counters, the addresses of what is staged. Of threads that
#: multiply by wgmma: those that do nothing else, those that copy as well, and those whose loads are through registers.
_BASE_REGISTERS = {"mma_sync": 32, "wgmma": 26, "wgmma_and_copies": 44, "wgmma_through_registers": 70}
#: Of warps, those for addresses of fragments: one for two accumulators, at most so many.
_MOST_FOR_ADDRESSES = 8
#: Fragments of A that are made in registers beside those of a stage: the next one's first, and elements on their way.
_STEPS_AHEAD = 2
#: Consumers that set more registers raise theirs; others give some back (`gpu/expand/warpgroups`).
_RAISED_FROM = 168
#: Quarters of a register that an element takes besides itself on its way through registers: where tiles are whole, and
#: where they reach beyond the last line.
_MORE_QUARTERS = {"along k": (0, 1), "across k": (0, 3), "computed": (2, 6)}
#: What each full-size operand of the epilogue, and its ops, hold at a time beside a fragment of accumulators.
_EPILOGUE_REGISTERS = 8
#: What each of these that threads read takes while factors are made in registers: its pointer, its pitches.
_KEPT_FOR_EPILOGUE = 16
#: Registers that the epilogue has besides accumulators and what threads read beside these: rows, columns, pointers; and
#: for extents that a run tells.
_FINISHING_REGISTERS, _EXTENT_REGISTERS = 40, 32
#: Registers of addresses for each pair that is read at once, and for each two elements that are read apart.
_ADDRESS_OF_PAIR, _ADDRESSES_APART = 1, 3
#: Accumulators of a thread in a piece of 16 x 8, which are two pairs, and pieces that are finished together.
_PIECE_ACCUMULATORS, _PIECES_TOGETHER = 4, 2


@dataclass(frozen=True)
class MmaResources:
    """What one CTA takes, and how many are resident on an SM.

    Bytes are of shared memory. `registers_per_thread` are those of a thread that multiplies; where warps are
    specialised the others have less. `occupancy` is the part of the SM's warps that are resident. `limiter` is what
    allows no further CTA: "shared memory", "registers", "warps" or "CTAs".
    """

    staged_bytes: int
    slab_bytes: int
    barrier_bytes: int
    shared_bytes: int
    registers_per_thread: int
    registers_per_cta: int
    threads: int
    ctas_per_sm: int
    occupancy: float
    limiter: str


def mma_resources(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load] = ()) -> MmaResources:
    """The resources of a tiling with its loads; copies that run by themselves take no registers."""
    unit, target = case.unit, case.target
    held = _held(loads, unit)
    staged = tiling.stages * stage_bytes(tiling, held)
    slabs = slab_bytes(tiling, case)
    barriers = BARRIER_BYTES if unit.is_wgmma else 0
    # A CTA that computes one tile has its circular buffer free when that is finished.
    shared = (staged + slabs if tiling.is_persistent else max(staged, slabs)) + barriers
    registers = _registers_per_thread(tiling, case, loads)
    registers_per_cta = _registers_per_cta(tiling, registers, target)
    room = {
        "shared memory": target.shared_bytes_per_sm // (shared + target.shared_bytes_per_cta_reserved),
        "registers": target.registers_per_sm // registers_per_cta,
        "warps": target.threads_per_sm // tiling.threads,
        "CTAs": target.ctas_per_sm,
    }
    limiter = min(room, key=lambda each: room[each])
    ctas = room[limiter]
    occupancy = min(1.0, ctas * tiling.threads / target.threads_per_sm)
    return MmaResources(
        staged, slabs, barriers, shared, registers, registers_per_cta, tiling.threads, ctas, occupancy, limiter
    )


def _held(loads: Sequence[Load], unit: MatrixUnit) -> tuple[ElementType, ElementType]:
    """The element types of both operands' tiles: of factors where the loads are not known."""
    a, b = (load.element(unit) for load in loads) if loads else (unit.factor, unit.factor)
    return a, b


def stage_bytes(tiling: MmaTiling, held: tuple[ElementType, ElementType]) -> int:
    """One tile of each operand in shared memory, each beginning where a swizzle does; `held` are their elements."""
    bm, bn, bk = tiling.tile
    sides = zip((bm, bn), held, strict=True)
    return sum(_aligned(side * bk * element.size_bytes, _TILE_ALIGNMENT) for side, element in sides)


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
        bm, bn, _ = tiling.tile
        return sum(_aligned(bm * bn * size, _TILE_ALIGNMENT) for size in sizes)
    residuals = case.product.residuals if tiling.slices == 1 else ()
    beside = [residuals[number].element.size_bytes for number in residual_boxes(residuals, tiling.unit_tile)]
    areas = [tiling.unit_tile[0] * slab_columns(tiling, size) for size in sizes]
    slabs = [area * each for area, size in zip(areas, sizes, strict=True) for each in (size, *beside)]
    return SLAB_BUFFERS * tiling.consumers * sum(_aligned(slab, _TILE_ALIGNMENT) for slab in slabs)


def launch_registers(tiling: MmaTiling, target: Target) -> int:
    """The registers of each thread at the launch where warps are specialised: what ptxas decides.

    It is an equal share of what a CTA has, or what consumers raise theirs to, if that is less.
    """
    assert tiling.registers is not None
    share, (_, consumer) = target.registers_per_cta // tiling.threads // 8 * 8, tiling.registers
    return min(share, consumer if consumer > _RAISED_FROM else target.registers_per_thread)


def resource_faults(
    tiling: MmaTiling, resources: MmaResources, case: MmaCase, loads: Sequence[Load] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the fields that ask for more than the target has, each with a message that goes on after its name."""
    (bm, bn, bk), target = tiling.tile, case.target
    if tiling.threads > target.threads_per_cta:
        yield (
            "warp_tile",
            f"makes {tiling.consumers} units of {tiling.unit_threads} threads, {tiling.threads} threads per CTA; "
            f"{target.name} has {target.threads_per_cta}; choose a larger one or a smaller tile",
        )
        return
    if tiling.registers and (together := tiling.registers[0] + tiling.consumers * tiling.registers[1]) > (
        most := target.registers_per_cta // PRODUCER_THREADS
    ):
        producer, consumer = tiling.registers
        fitting = (most - producer) // tiling.consumers // 8 * 8
        yield (
            "registers",
            f"are {producer} and {consumer}: with {tiling.consumers} consumers {together} for each "
            f"{PRODUCER_THREADS} threads; {target.name} has {most}; choose [{producer}, {fitting}]",
        )
        return
    limit = _register_limit(tiling, target)
    if resources.registers_per_thread > limit:
        whose = "consumers set" if tiling.registers else f"{target.name} has"
        yield (
            "warp_tile",
            f"has accumulator tile {tiling.unit_tile[0]}x{tiling.unit_tile[1]}, about {resources.registers_per_thread} "
            f"registers per thread ({tiling.accumulators_per_thread} accumulators); {whose} {limit}; choose a smaller "
            "one",
        )
    elif resources.registers_per_cta > target.registers_per_cta:
        yield (
            "tile",
            f"has accumulator tile {bm}x{bn}, about {resources.registers_per_thread} registers for each of "
            f"{tiling.threads} threads; {target.name} has {target.registers_per_cta} per CTA; choose a smaller tile",
        )
    if resources.shared_bytes > target.shared_bytes_per_cta_optin:
        held = _held(loads, case.unit)
        each = resources.staged_bytes // tiling.stages
        beside = (resources.slab_bytes if tiling.is_persistent else 0) + resources.barrier_bytes
        fitting = (target.shared_bytes_per_cta_optin - beside) // each
        remedy = f"choose {fitting} stages or a smaller tile" if fitting > 1 else "choose a smaller tile"
        rest = resources.shared_bytes - resources.staged_bytes
        first, second = held
        tiles = f"{bm}x{bk} + {bk}x{bn} {second}" if first is second else f"{bm}x{bk} {first} + {bk}x{bn} {second}"
        yield (
            "stages",
            f"and 'tile' take {tiling.stages} x ({tiles}) = {resources.staged_bytes} "
            f"bytes and {rest} for the epilogue and barriers, {resources.shared_bytes} bytes of shared memory per CTA; "
            f"{target.name} has {target.shared_bytes_per_cta_optin}; {remedy}",
        )


def pieces_at_a_time(tiling: MmaTiling, case: MmaCase, guarded: bool = True) -> int:
    """How many pieces of 16 x 8 accumulators are finished before the warp waits; 0: all, for what they read has room.

    Of several tensors that are as large as the output, ptxas reads all elements before it finishes the first
    accumulator, each to registers of its own; of one it reads them as registers become free, and what TMA brings to
    shared memory takes none.
    """
    each = _registers_of_piece(tiling, case, guarded)
    share = case.target.registers_per_cta // tiling.threads
    limit = _register_limit(tiling, case.target)
    room = (limit if tiling.registers else min(limit, share)) - tiling.accumulators_per_thread - _FINISHING_REGISTERS
    room -= 0 if case.is_static else _EXTENT_REGISTERS
    if each * tiling.accumulators_per_thread <= room * _PIECE_ACCUMULATORS:
        return 0
    return max(1, room // (each * _PIECES_TOGETHER)) * _PIECES_TOGETHER


def _registers_of_piece(tiling: MmaTiling, case: MmaCase, guarded: bool) -> int:
    """The registers of what threads read together for a piece, and of where it is: pairs where these are neighbours."""
    pairs, apart = _read_by_threads(tiling, case, guarded)
    if len(pairs) + apart < 2:
        return 0
    of_pairs = sum(max(1, each.element.size_bytes // 2) + _ADDRESS_OF_PAIR for each in pairs)
    return _PIECE_ACCUMULATORS // 2 * (of_pairs + (2 + _ADDRESSES_APART) * apart)


def _read_by_threads(tiling: MmaTiling, case: MmaCase, guarded: bool = True) -> tuple[list[StridedAccess], int]:
    """Of the tensors as large as the output that TMA does not bring, those read in pairs, and how many others."""
    residuals = case.product.residuals
    by_tma = residual_boxes(residuals, tiling.unit_tile, guarded) if tiling.is_persistent and tiling.slices == 1 else {}
    read = [each for number, each in enumerate(residuals) if number not in by_tma]
    pairs = [each for each in read if store_of(each, False, guarded, 2 * each.element.size_bytes).width > 1]
    return pairs, case.full_inputs - len(by_tma) - len(pairs)


def _register_limit(tiling: MmaTiling, target: Target) -> int:
    """The registers that a thread that multiplies may have."""
    return min(target.registers_per_thread, tiling.registers[1] if tiling.registers else target.registers_per_thread)


def most_stages(tiling: MmaTiling, case: MmaCase, held: tuple[ElementType, ElementType], most: int = 8) -> int:
    """As many stages, of tiles of `held`, as shared memory has room for, at most `most`; 0 where one has none."""
    rest = slab_bytes(tiling, case) if tiling.is_persistent else 0
    rest += BARRIER_BYTES if case.unit.is_wgmma else 0
    return min(most, (case.target.shared_bytes_per_cta_optin - rest) // stage_bytes(tiling, held))


def _registers_per_thread(tiling: MmaTiling, case: MmaCase, loads: Sequence[Load]) -> int:
    """Accumulators, and fragments of both operands with what is on its way, or the epilogue."""
    (rows, columns), unit = tiling.unit_tile, case.unit
    on_their_way = [_registers_of_load(side, tiling, case, load) for side, load in enumerate(loads)]
    base = _BASE_REGISTERS["mma_sync"] + min(_MOST_FOR_ADDRESSES, tiling.accumulators_per_thread // 2)
    if unit.is_wgmma and tiling.is_persistent:
        base = _BASE_REGISTERS["wgmma"]
    elif unit.is_wgmma:
        is_through = any(load.kind == "registers" for load in loads)
        base = _BASE_REGISTERS["wgmma_through_registers" if is_through else "wgmma_and_copies"]
    # Of 16 rows of A and 8 columns of B, and 32 bytes of k, a thread of a warp has 4 and 2 registers; of the next step
    # ptxas has about half of them at a time.
    fragments = 0 if unit.is_wgmma else 3 * (rows // 16 * 4 + columns // 8 * 2) // 2
    if any(load.source for load in loads):  # all steps of a stage are read until it has been multiplied
        pairs, apart = _read_by_threads(tiling, case)
        fragments = rows // unit.rows * 4 * (tiling.tile[2] // unit.depth + _STEPS_AHEAD)
        fragments += _KEPT_FOR_EPILOGUE * (len(pairs) + apart)
    epilogue = _EPILOGUE_REGISTERS * (1 + case.full_inputs)
    # The fragments are not needed any more when the epilogue runs.
    return tiling.accumulators_per_thread + base + max(fragments + sum(on_their_way), epilogue)


def _registers_of_load(side: int, tiling: MmaTiling, case: MmaCase, load: Load) -> int:
    """The registers of what a thread loads of a tile of A (0) or B (1).

    ptxas loads all that passes through registers before it stores the first: to a register each, and where extents are
    not known it has an address for each, too. What is computed is read from several places, and where tiles reach
    beyond the last line there are more addresses: for each copy of less than 16 bytes one, of one register or two.
    """
    length = tiling.tile[side]
    extent, operand = ((case.product.m, case.product.lhs), (case.product.n, case.product.rhs))[side]
    elements = length * tiling.tile[2] // tiling.threads
    is_ragged = extents.divide(extent, length) is None
    if load.kind == "registers":
        quarters = 4 if case.is_static else 8
        if case.unit.factor.size_bytes > 1 or not case.unit.is_wgmma:  # for wgmma four bytes come together
            quarters += _MORE_QUARTERS[_way_of(operand.access, side)][is_ragged]
        return elements * quarters // 4
    if load.kind == "tma":
        return 0
    copies = elements * load.element(case.unit).size_bytes // load.bytes
    is_apart = load.bytes < WIDEST_COPY_BYTES and is_ragged
    if case.unit.is_wgmma:
        return 2 * copies if is_apart else 0
    return copies * (2 if is_apart and not case.is_static else 1)


def _way_of(access: StridedAccess | str, side: int) -> str:
    """How k lies in an operand of which threads load elements."""
    if isinstance(access, str):
        return "computed"
    return "across k" if access.contiguous == ("rows", "columns")[side] else "along k"


def _registers_per_cta(tiling: MmaTiling, per_thread: int, target: Target) -> int:
    """What is allocated: whole units a warp, and for specialised warps what a launch needs."""
    each = launch_registers(tiling, target) if tiling.registers else min(per_thread, target.registers_per_thread)
    per_warp = _aligned(each * target.threads_per_warp, target.registers_per_warp_unit)
    return per_warp * (tiling.threads // target.threads_per_warp)


def _aligned(number: int, step: int) -> int:
    return -(-number // step) * step
