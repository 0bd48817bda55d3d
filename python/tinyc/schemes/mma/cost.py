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
#: Instructions for an accumulator that becomes an element of an output in shared memory, besides the epilogue's ops.
_STORE_OPS = 2
#: The part of its cycles in which a sub-partition multiplies that has one warp, which waits for its own fragments.
_ALONE = 0.9
#: The part of a gap that remains where another unit multiplies meanwhile.
_HIDDEN_GAP = 0.1
#: The part of the smaller one of compute and memory that does not go on at the same time as the other.
_UNHIDDEN = 0.1
#: The part of the time for the tiles that some SMs have more than others in which memory serves only these.
_UNEVEN = 0.1
#: What a step may be limited by, where more is asked of it than its cycles.
_TENSOR = "tensor cores"
_STAGING = "staging through registers"
#: Bytes of a partial sum.
_SUM_BYTES = 4


@dataclass(frozen=True)
class PredictedTime:
    """The predicted time of a kernel, and `limiter`, what it would be faster without.

    `step_cycles` is a tile along k of one CTA, `tile_cycles` all of a tile, `terms` the cycles of the step by what
    takes them; `rounds` is how often the SMs take tiles. `memory_seconds` is what memory needs for the bytes that L2
    misses.
    """

    seconds: float
    limiter: str
    step_cycles: float
    tile_cycles: float
    rounds: int
    memory_seconds: float
    terms: tuple[tuple[str, float], ...]


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
    m, n, k, batch = case.sizes
    bm, bn, bk = tiling.tile
    tiles = math.ceil(m / bm) * math.ceil(n / bn) * batch * tiling.slices
    steps = math.ceil(math.ceil(k / bk) / tiling.slices)
    rounds, turns = math.ceil(tiles / sms), _turns(tiles, resources.ctas_per_sm, sms)
    loops = [_loop(tiling, loads, steps, turn, case) for turn in turns]
    tile_cycles = [
        _tile_cycles(tiling, loop.cycles, turn.resident, rounds, case) for turn, loop in zip(turns, loops, strict=True)
    ]
    cycles = rates.cta_start_cycles + rates.load_latency_cycles + _joining_cycles(tiling, case)
    cycles += sum(turn.count * turn.resident * tile for turn, tile in zip(turns, tile_cycles, strict=True))
    limiter = loops[0].limiter
    compute = cycles / rates.hz
    memory = _memory_bytes(tiling, resources, case) / case.target.global_bytes_per_second
    # SMs with a tile more than others get it a little later: they ask for more at a time.
    memory *= 1 + _UNEVEN * (rounds * min(tiles, sms) / tiles - 1)
    if memory >= compute:
        limiter = "memory"
    # What is slower hides what is faster, but for the beginning and the end.
    seconds = max(compute, memory) + _UNHIDDEN * min(compute, memory) + _beside_seconds(tiling, case)
    return PredictedTime(seconds, limiter, loops[0].step, tile_cycles[0], rounds, memory, loops[0].terms)


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
    """The loop along k: a step's limiter, cycles and terms, and the cycles of all of it."""

    limiter: str
    step: float
    terms: tuple[tuple[str, float], ...]
    cycles: float


def _loop(tiling: MmaTiling, loads: Sequence[Load], steps: int, turn: _Turn, case: MmaCase) -> _Loop:
    """The loop of a CTA in a turn, in cycles of an SM for one of those beside each other."""
    rates, resident = case.target.matrix, turn.resident
    terms = _step_terms(tiling, loads, turn, case)
    limiter, step = max(terms, key=lambda term: term[1])
    # A CTA that is alone waits for its own loads; several fill each other's waits.
    in_flight = max(1, tiling.stages - 1 - tiling.wait_depth)
    latency = rates.load_latency_cycles / in_flight / resident
    if latency > step:
        limiter, step = "latency of loads", latency
    before = 0.0
    if (staging := dict(terms).get(_STAGING, 0.0)) and not case.unit.is_wgmma:
        # Warps wait for what they load and stage it, then multiply; the first stages before all products.
        staging += rates.load_latency_cycles / resident
        limiter, step = _STAGING, dict(terms)[_TENSOR] + staging
        before = (tiling.stages - 1) * staging
    step += _gap_cycles(tiling, loads, resident, case)
    return _Loop(limiter, step, tuple(terms), before + step * steps)


def _step_terms(tiling: MmaTiling, loads: Sequence[Load], turn: _Turn, case: MmaCase) -> list[tuple[str, float]]:
    """Cycles of an SM for one CTA's tile along k, by what takes them."""
    rates, unit = case.target.matrix, case.unit
    (bm, bn, bk), (wm, wn), size = tiling.tile, tiling.unit_tile, case.unit.factor.size_bytes
    m, n, _, _ = case.sizes
    macs = rates.macs_per_cycle * 2 / size  # of f16; half as many of twice the bytes
    # A CTA of fewer warps than the SM has sub-partitions leaves some idle, the same ones as those beside it.
    busy = 1.0 if unit.is_wgmma else min(1.0, tiling.consumers / rates.sub_partitions)
    if not unit.is_wgmma and tiling.consumers * turn.resident <= rates.sub_partitions:
        busy *= _ALONE
    # What is read at a time: by a wgmma 64 rows, by a warp all of its accumulators'. Rows that pass through registers
    # on their way are read once, as what they are then.
    rows = unit.rows if unit.is_wgmma else wm
    held, made = (loads[0].element(unit).size_bytes, bool(loads[0].source)) if loads else (size, False)
    a_bytes = bm * (bn // wn) * held + bm * held
    b_bytes = (bm // rows) * bn * size + bn * size
    shared = (a_bytes + b_bytes) * bk / rates.shared_bytes_per_cycle
    # What is beyond the operands is not read.
    high, wide = min(bm, m) * bk * held, min(bn, n) * bk * size
    m_share, n_share = tiling.cluster
    from_l2 = (high / n_share + wide / m_share) * turn.busy_sms / rates.l2_bytes_per_cycle
    terms = [
        (_TENSOR, bm * bn * bk / macs / busy),
        ("shared memory", shared),
        ("L2", max(from_l2, (high + wide) / rates.l2_port_bytes_per_cycle)),
    ]
    computed = sum(side * bk for side, load in zip((bm, bn), loads, strict=True) if load.kind == "registers")
    if computed:
        warps = computed / 32
        terms.append((_STAGING, warps * _REGISTER_CYCLES / rates.sub_partitions))
    if made:
        warps = bm * bk * (bn // wn) / 32
        terms.append(("factors in registers", warps * _FRAGMENT_CYCLES / rates.sub_partitions))
    return terms


def _gap_cycles(tiling: MmaTiling, loads: Sequence[Load], resident: int, case: MmaCase) -> float:
    """Cycles between two tiles along k in which nothing is multiplied.

    Warpgroups that load themselves start their copies in it.
    """
    at_a_time, rates = resident, case.target.matrix
    if case.unit.is_wgmma:  # warpgroups go on from each other, but where they have tiles of their own, in turn
        at_a_time *= 1 if tiling.schedule == "pingpong" else tiling.consumers
        if tiling.wait_depth:
            at_a_time += 1
    gap = rates.step_gap_cycles
    if case.unit.is_wgmma and not tiling.is_persistent:
        (bm, bn, bk), size = tiling.tile, case.unit.factor.size_bytes
        copied = sum(side for side, load in zip((bm, bn), loads, strict=True) if load.kind != "registers")
        gap += copied * bk * size / rates.shared_bytes_per_cycle
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
