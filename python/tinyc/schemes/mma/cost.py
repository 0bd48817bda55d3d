"""The predicted time of a tiling: by the slowest of what its SMs do at the same time, tile after tile.

In: a tiling with what it takes, its loads, a case. Out: a `PredictedTime`. Of a tile along k an SM multiplies, uses
shared memory, gets operands from L2, and waits where its stages are too few for the latency; what is around the
loop over k is hidden or not, as the schedule has it; rounds of tiles over the SMs and what L2 gets from memory make the
time. A size that is not known counts as a usual one (`MmaCase.sizes`). Source: specification 000 §6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from tinyc.analysis.strided_access import StridedAccess
from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import Load
from tinyc.schemes.mma.resources import MmaResources
from tinyc.schemes.mma.tiling import Along, MmaTiling

#: Bands of tiles that are tried.
_BANDS = (1, 2, 4, 8, 16)
#: The part of L2 that operands may fill and still be there when they are read again.
_USEFUL_L2 = 0.7
#: Cycles of a sub-partition for 32 elements that pass through registers: their indices, loads, ops, and stores; for 32
#: of which warpgroups make factors there.
_REGISTER_CYCLES = 12
_FRAGMENT_CYCLES = 4
#: Bytes of neighbouring elements that pass through a lane's registers together.
_LANE_BYTES = 16
#: Instructions for an accumulator that becomes an element of an output in shared memory, besides the epilogue's ops.
_STORE_OPS = 2
#: The part of its cycles in which a sub-partition multiplies that has one warp, which waits for its own fragments.
_ALONE = 0.9
#: The part of a gap that remains where another unit multiplies meanwhile, or copies are what takes longest.
_HIDDEN_GAP = 0.1
#: The part of the smaller one of compute and memory that does not go on at the same time as the other.
_UNHIDDEN = 0.1
#: The part of the time for the tiles that some SMs have more than others in which memory serves only these.
_UNEVEN = 0.1
#: What a step may be limited by, where more is asked of it than its cycles.
_TENSOR = "tensor cores"
_SHARED = "shared memory"
_L2 = "L2"
_LATENCY = "latency of loads"
_STAGING = "staging through registers"
#: Bytes of a partial sum.
_SUM_BYTES = 4


@dataclass(frozen=True)
class PredictedTime:
    """The predicted time of a kernel, and `limiter`, what it would be faster without.

    `step_cycles` is a tile along k of one CTA, `tile_cycles` all of a tile; `rounds` is how often the SMs take tiles.
    `memory_seconds` is what memory needs for the bytes that L2 misses.
    """

    seconds: float
    limiter: str
    step_cycles: float
    tile_cycles: float
    rounds: int
    memory_seconds: float


class Walk(TypedDict):
    """An order of tiles: the axis that they are walked along, in bands of `group` tiles of the other one."""

    along: Along
    group: int


def best_walk(
    tiling: MmaTiling, resources: MmaResources, along: Along | None, group: int | None, case: MmaCase
) -> Walk:
    """The walk in which the tiles that are computed at a time read the fewest bytes, of those that are left."""
    best: tuple[float, Walk] | None = None
    for axis in (along,) if along else ("n", "m"):
        for band in (group,) if group else _BANDS:
            bytes_read = _round_bytes(tiling, resources, axis, band, case)
            if best is None or bytes_read < best[0] * 0.999:
                best = bytes_read, {"along": axis, "group": band}
    assert best is not None
    return best[1]


def predicted(tiling: MmaTiling, resources: MmaResources, loads: Sequence[Load], case: MmaCase) -> PredictedTime:
    """The time of a kernel."""
    rates, sms = case.target.matrix, case.target.sms
    tiles, steps = _tiles_and_steps(tiling, case)
    rounds, turns = math.ceil(tiles / sms), _turns(tiles, resources.ctas_per_sm, sms)
    loops = [_loop(tiling, loads, steps, turn, case) for turn in turns]
    tile_cycles = [
        _tile_cycles(tiling, loop.cycles, turn.resident, rounds, case) for turn, loop in zip(turns, loops, strict=True)
    ]
    compute = _joining_cycles(tiling, case) / rates.hz
    compute += sum(turn.count * turn.resident * tile for turn, tile in zip(turns, tile_cycles, strict=True)) / rates.hz
    limiter = loops[0].limiter
    memory = _memory_bytes(tiling, resources, case) / case.target.global_bytes_per_second
    # SMs with a tile more than others get it a little later: they ask for more at a time.
    memory *= 1 + _UNEVEN * (rounds * min(tiles, sms) / tiles - 1)
    if memory >= compute:
        limiter = "memory"
    # What is slower hides what is faster, but for the beginning, and the end: what came last has to be multiplied.
    start = (rates.cta_start_cycles + _latency_cycles(tiling, case)) / rates.hz
    end = turns[-1].resident * (loops[-1].step + max(0.0, tile_cycles[-1] - loops[-1].cycles)) / rates.hz
    seconds = start + max(compute, memory + end) + _UNHIDDEN * min(compute, memory) + _beside_seconds(tiling, case)
    return PredictedTime(seconds, limiter, loops[0].step, tile_cycles[0], rounds, memory)


def least_seconds(tiling: MmaTiling, loads: Sequence[Load], case: MmaCase) -> float:
    """What the predicted time is never less than: what tensor cores and shared memory take, whatever is resident."""
    tiles, steps = _tiles_and_steps(tiling, case)
    step = max(_tensor_cycles(tiling, case.target.ctas_per_sm, case), sum(_shared_cycles(tiling, loads, case)))
    return math.ceil(tiles / case.target.sms) * steps * step / case.target.matrix.hz


def _tiles_and_steps(tiling: MmaTiling, case: MmaCase) -> tuple[int, int]:
    """The tiles that CTAs take, of all batches and slices of k, and the tiles along k of each."""
    (m, n, k, batch), (bm, bn, bk) = case.sizes, tiling.tile
    tiles = math.ceil(m / bm) * math.ceil(n / bn) * batch * tiling.slices
    return tiles, math.ceil(math.ceil(k / bk) / tiling.slices)


@dataclass(frozen=True)
class _Turn:
    """CTAs that run at the same time, `count` times: `resident` beside each other on each of `busy_sms`, on average."""

    count: int
    resident: int
    busy_sms: float


def _turns(tiles: int, ctas_per_sm: int, sms: int) -> list[_Turn]:
    """Those in which all SMs are full, and the last one, of the tiles that are left."""
    resident = min(ctas_per_sm, math.ceil(tiles / sms))
    full, left = divmod(tiles, sms * resident)
    rounds = math.ceil(left / sms)
    turns = (full and _Turn(full, resident, sms), left and _Turn(1, rounds, left / rounds))
    return [each for each in turns if each]


@dataclass(frozen=True)
class _Loop:
    """The loop along k: a step's limiter and cycles, and the cycles of all of it."""

    limiter: str
    step: float
    cycles: float


def _loop(tiling: MmaTiling, loads: Sequence[Load], steps: int, turn: _Turn, case: MmaCase) -> _Loop:
    """The loop of a CTA in a turn, in cycles of an SM for one of those beside each other."""
    rates, resident = case.target.matrix, turn.resident
    gap = _gap_cycles(tiling, loads, resident, case)
    # A CTA that is alone waits for its own loads; several fill each other's waits.
    in_flight = max(1, tiling.stages - 1 - tiling.wait_depth)
    multiplying = {name: cycles + gap for name, cycles in _cycles_of_products(tiling, loads, resident, case).items()}
    staging = _staging_cycles(tiling, loads, case)
    loading = _cycles_of_loads(tiling, loads, turn, staging, case)
    loading[_LATENCY] = _latency_cycles(tiling, case) / in_flight / resident
    # What is under way while warps multiply is so between two products, too.
    loading = {name: cycles + _HIDDEN_GAP * gap for name, cycles in loading.items()}
    beyond = 0.0
    if staging:
        # Warps wait for what they load and stage it, then multiply, while those beside them do the other one. Behind
        # the last tile along k they stage nothing, and do not wait.
        in_turn = rates.load_latency_cycles + staging + multiplying[_TENSOR]
        loading[_STAGING] = max(loading[_STAGING], in_turn / resident)
        beyond = (tiling.stages - 1) * staging
    limiter, step = max((*multiplying.items(), *loading.items()), key=lambda each: each[1])
    return _Loop(limiter, step, step * steps + beyond)


def _latency_cycles(tiling: MmaTiling, case: MmaCase) -> float:
    """From a load to its arrival: of producers by TMA, else of threads."""
    rates = case.target.matrix
    return rates.load_latency_cycles + (rates.tma_latency_cycles if tiling.is_persistent else 0.0)


def _cycles_of_products(tiling: MmaTiling, loads: Sequence[Load], resident: int, case: MmaCase) -> dict[str, float]:
    """Cycles of an SM in which warps multiply one CTA's tile along k, by what takes them."""
    read, written = _shared_cycles(tiling, loads, case)
    # Warps load fragments behind what their copies write; warpgroups read while copies come.
    found = {
        _TENSOR: _tensor_cycles(tiling, resident, case),
        _SHARED: read if case.unit.is_wgmma else read + written,
    }
    if loads[0].source:
        warps = tiling.tile[0] * tiling.tile[2] * tiling.units[1] / 32
        found["factors in registers"] = warps * _FRAGMENT_CYCLES / case.target.matrix.sub_partitions
    return found


def _tensor_cycles(tiling: MmaTiling, resident: int, case: MmaCase) -> float:
    """Cycles of the tensor cores for one CTA's tile along k."""
    rates, unit = case.target.matrix, case.unit
    (bm, bn, bk), size = tiling.tile, unit.factor.size_bytes
    macs = rates.macs_per_cycle * 2 / size  # of f16; half as many of twice the bytes
    # A CTA of fewer warps than the SM has sub-partitions leaves some idle, the same ones as those beside it.
    busy = 1.0 if unit.is_wgmma else min(1.0, tiling.consumers / rates.sub_partitions)
    if not unit.is_wgmma and tiling.consumers * resident <= rates.sub_partitions:
        busy *= _ALONE
    return bm * bn * bk / macs / busy


def _cycles_of_loads(
    tiling: MmaTiling, loads: Sequence[Load], turn: _Turn, staging: float, case: MmaCase
) -> dict[str, float]:
    """Cycles of an SM in which one CTA's tile along k comes to shared memory, by what takes them.

    Of these `staging` is what passes through registers.
    """
    rates, (bm, bn, bk) = case.target.matrix, tiling.tile
    (m, n, _, _), (m_share, n_share) = case.sizes, tiling.cluster
    held, size = (load.element(case.unit).size_bytes for load in loads)
    # What is beyond the operands is not read.
    high, wide = min(bm, m) * bk * held, min(bn, n) * bk * size
    from_l2 = (high / n_share + wide / m_share) * turn.busy_sms / rates.l2_bytes_per_cycle
    found = {_L2: max(from_l2, (high + wide) / rates.l2_port_bytes_per_cycle)}
    if case.unit.is_wgmma:
        found[_SHARED] = sum(_shared_cycles(tiling, loads, case))
    if staging:
        copied = sum(each for each, load in zip((high, wide), loads, strict=True) if load.kind != "registers")
        found[_STAGING] = staging + copied / rates.l1_bytes_per_cycle
    return found


def _shared_cycles(tiling: MmaTiling, loads: Sequence[Load], case: MmaCase) -> tuple[float, float]:
    """Cycles in which shared memory is read for the products of a tile along k, and written before.

    Read at a time are, by a wgmma, 64 rows, by a warp those of all its accumulators. Rows that pass through registers
    on their way are read once, as what they are then. What a warp loads by words, 128 bytes by an access, takes as long
    as accesses follow each other.
    """
    (bm, bn, bk), (wm, _) = tiling.tile, tiling.unit_tile
    rates, rows = case.target.matrix, case.unit.rows if case.unit.is_wgmma else wm
    held, size = (load.element(case.unit).size_bytes for load in loads)
    slower = [rates.access_cycles if load.is_read_by_words(side, case.unit) else 1 for side, load in enumerate(loads)]
    read, written = (
        bm * tiling.units[1] * held * slower[0] + bm // rows * bn * size * slower[1],
        bm * held + bn * size,
    )
    rate = rates.shared_bytes_per_cycle / bk
    return read / rate, written / rate


def _staging_cycles(tiling: MmaTiling, loads: Sequence[Load], case: MmaCase) -> float:
    """Cycles of an SM for what of a tile along k passes through registers: of its instructions, or of lines of L1.

    What is not computed lies so that each element is loaded by itself, and each lane has neighbours.
    """
    rates, cycles = case.target.matrix, 0.0
    for side, load, operand in zip(tiling.tile[:2], loads, (case.product.lhs, case.product.rhs), strict=True):
        if load.kind == "registers":
            is_computed = not isinstance(operand.access, StridedAccess) or operand.access.element != case.unit.factor
            lines = 0.0 if is_computed else 32 * _LANE_BYTES / rates.l1_bytes_per_cycle
            cycles += side * tiling.tile[2] / 32 * max(_REGISTER_CYCLES / rates.sub_partitions, lines)
    return cycles


def _gap_cycles(tiling: MmaTiling, loads: Sequence[Load], resident: int, case: MmaCase) -> float:
    """Cycles between two tiles along k in which nothing is multiplied.

    Warpgroups that load themselves start their copies in it, all of a CTA's behind one barrier; those of the schedule
    `cooperative` go on from each other.
    """
    at_a_time, rates = resident, case.target.matrix
    if case.unit.is_wgmma:
        at_a_time *= tiling.consumers if tiling.schedule == "cooperative" else 1
        if tiling.wait_depth:
            at_a_time += 1
    gap = rates.step_gap_cycles
    if case.unit.is_wgmma and not tiling.is_persistent:
        (bm, bn, bk), size = tiling.tile, case.unit.factor.size_bytes
        copied = ((side, load) for side, load in zip((bm, bn), loads, strict=True) if load.kind != "registers")
        copies = sum(side * bk * size / load.bytes for side, load in copied)
        gap += copies / 32 * rates.access_cycles
    return gap if at_a_time == 1 else gap * _HIDDEN_GAP / at_a_time


def _tile_cycles(tiling: MmaTiling, loop: float, resident: int, rounds: int, case: MmaCase) -> float:
    """Cycles of an SM for one CTA's tile: its steps, and of what is around them what nothing else hides."""
    rates, (bm, bn, _) = case.target.matrix, tiling.tile
    size = sum(each.size_bytes for each in case.outputs)
    ops = _STORE_OPS * len(case.outputs) + len(case.product.epilogue.ops) + 2 * case.full_inputs
    finishing = bm * bn * ops / (32 * rates.sub_partitions)
    storing = bm * bn * (1 + case.full_inputs) * size / rates.l2_port_bytes_per_cycle
    if not tiling.finishes:
        finishing, storing = 0.0, bm * bn * _SUM_BYTES / rates.l2_port_bytes_per_cycle
    if tiling.schedule == "pingpong" and rounds > 1:
        return max(loop, finishing + storing)
    if tiling.is_persistent:  # what is finished is stored while the next tile is multiplied
        return loop + finishing + (storing if rounds == 1 else 0)
    fill = rates.load_latency_cycles + rates.cta_start_cycles if rounds > 1 else 0
    return loop + (finishing + storing + fill) / resident


def _joining_cycles(tiling: MmaTiling, case: MmaCase) -> float:
    """Cycles in which the slices of k of a tile are added up, one after the other."""
    rates, (bm, bn, _) = case.target.matrix, tiling.tile
    if tiling.slices == 1 or not tiling.finishes:
        return 0.0
    sums = bm * bn * _SUM_BYTES / rates.l2_port_bytes_per_cycle
    return (tiling.slices - 1) * (2 * sums + 2 * rates.load_latency_cycles)


def _round_bytes(tiling: MmaTiling, resources: MmaResources, along: Along, band: int, case: MmaCase) -> float:
    """Bytes of operands, for each element along k, that the tiles which are computed at a time read, each once."""
    m, n, _, _ = case.sizes
    bm, bn, _ = tiling.tile
    rows, columns = -(-m // bm), -(-n // bn)
    inner, outer = (columns, rows) if along == "n" else (rows, columns)
    at_a_time = min(case.target.sms * max(1, resources.ctas_per_sm), rows * columns)
    band = min(band, outer)
    length = min(inner, -(-at_a_time // band))
    bands = min(outer, band * -(-at_a_time // (band * inner)))
    wide, high = (length, bands) if along == "n" else (bands, length)
    return (high * bm + wide * bn) * case.unit.factor.size_bytes / at_a_time


def _memory_bytes(tiling: MmaTiling, resources: MmaResources, case: MmaCase) -> float:
    """Bytes that memory reads and writes: operands once where L2 holds them, else once for each round; partial sums."""
    m, n, k, batch = case.sizes
    size = case.unit.factor.size_bytes
    once = (m + n) * k * batch * size
    written = m * n * batch * sum(each.size_bytes for each in case.outputs) * (1 + case.full_inputs)
    if once > _USEFUL_L2 * case.target.l2_bytes:
        tiles = math.ceil(m / tiling.tile[0]) * math.ceil(n / tiling.tile[1]) * batch
        each = _round_bytes(tiling, resources, tiling.along, tiling.group, case) * k
        once = max(once, tiles * each)
    sums = m * n * batch * _SUM_BYTES * (tiling.slices - 1 if tiling.finishes else tiling.slices)
    return once + written + sums


def _beside_seconds(tiling: MmaTiling, case: MmaCase) -> float:
    """What another kernel takes: one that zeroes semaphores, or adds up slices, which it reads from L2."""
    if tiling.slices == 1:
        return 0.0
    if tiling.finishes:
        return case.target.launch_seconds
    m, n, _, batch = case.sizes
    moved = m * n * batch * (_SUM_BYTES * tiling.slices + sum(each.size_bytes for each in case.outputs))
    rates = case.target.matrix
    return case.target.launch_seconds + moved / (rates.l2_bytes_per_cycle * rates.hz)
