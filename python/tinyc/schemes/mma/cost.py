"""The predicted time of a tiling: by the slowest of what its SMs do at the same time, tile after tile.

In: a tiling with what it takes, its loads, a case. Out: a `Prediction`. Of a tile along k an SM multiplies, reads and
writes shared memory, gets operands from L2, and waits where its ring is too short for the latency; what is around the
loop over k is hidden or not, as the schedule has it; rounds of tiles over the SMs and what L2 gets from memory make the
time. A size that is not known counts as a usual one (`space.sizes_of`). Source: specification 000 §6.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import Load
from tinyc.schemes.mma.resources import MmaResources
from tinyc.schemes.mma.space import sizes_of
from tinyc.schemes.mma.tiling import Along, MmaTiling

#: Bands of tiles that are tried.
_BANDS = (1, 2, 4, 8, 16)
#: The part of L2 that operands may fill and still be there when they are read again.
_USEFUL_L2 = 0.7
#: Cycles of a sub-partition for an element that passes through registers: its index, its load, its ops, its store.
_REGISTER_CYCLES = 12


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a kernel, and `limiter`, what it would be faster without.

    `step_cycles` is a tile along k of one CTA, `tile_cycles` all of a tile, `terms` the cycles of the step by what
    takes them; `rounds` is how often the SMs take tiles. `memory_seconds` is what memory needs for the bytes that L2
    misses.
    """

    seconds: float
    limiter: str
    step_cycles: float
    tile_cycles: float
    rounds: float
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


def predicted(tiling: MmaTiling, resources: MmaResources, loads: Sequence[Load], case: MmaCase) -> Prediction:
    """The time of a kernel."""
    rates = case.target.matrix
    m, n, k, batch = sizes_of(case)
    bm, bn, bk = tiling.tile
    tiles = -(-m // bm) * -(-n // bn) * batch * tiling.slices
    steps = math.ceil(math.ceil(k / bk) / tiling.slices)
    sms = case.target.sms
    resident = max(1, min(resources.ctas_per_sm, -(-tiles // sms)))
    terms = _step_terms(tiling, loads, resident, case)
    limiter, step = max(terms, key=lambda term: term[1])
    # A CTA that is alone waits for its own loads; several fill each other's waits.
    latency = rates.load_latency_cycles / max(1, tiling.stages - 1) / resident
    if latency > step:
        limiter, step = "latency of loads", latency
    if not tiling.is_persistent:
        step += rates.barrier_cycles / resident
    tile = _tile_cycles(tiling, step, steps, resident, case)
    rounds = _rounds(tiles, sms, resident)
    cycles = rates.cta_start_cycles + rounds * tile + (rates.load_latency_cycles if tiling.is_persistent else 0)
    memory = _memory_bytes(tiling, resources, case) / case.target.global_bytes_per_second
    seconds = max(cycles / rates.hz, memory)
    if memory >= cycles / rates.hz:
        limiter = "memory"
    seconds += _reduction_seconds(tiling, case)
    return Prediction(seconds, limiter, step, tile, rounds, memory, tuple(terms))


def _step_terms(tiling: MmaTiling, loads: Sequence[Load], resident: int, case: MmaCase) -> list[tuple[str, float]]:
    """Cycles of an SM for one CTA's tile along k, by what takes them."""
    rates, unit = case.target.matrix, case.unit
    (bm, bn, bk), (wm, wn), size = tiling.tile, tiling.unit_tile, case.unit.factor.size_bytes
    macs = rates.macs_per_cycle * 2 / size  # of f16; half as many of twice the bytes
    units = tiling.consumers * resident
    # Units of fewer warps than the SM has sub-partitions leave some idle.
    busy = 1.0 if unit.is_wgmma else min(1.0, units / rates.sub_partitions)
    multiply = bm * bn * bk / macs / busy
    # What is read at a time: by a wgmma 64 rows, by a warp all of its accumulators'.
    rows = unit.rows if unit.is_wgmma else wm
    fragments = (bm // rows) * (bn // wn) * (rows + wn)
    operand_bytes = (bm + bn) * bk * size
    shared = (fragments * bk * size + operand_bytes) / rates.shared_bytes_per_cycle
    m_share, n_share = tiling.cluster
    from_l2 = (bm / n_share + bn / m_share) * bk * size
    l2 = max(from_l2 / (rates.l2_bytes_per_cycle / case.target.sms), operand_bytes / rates.l2_port_bytes_per_cycle)
    terms = [("tensor cores", multiply), ("shared memory", shared), ("L2", l2)]
    computed = sum(side * bk for side, load in zip((bm, bn), loads, strict=True) if load.kind == "registers")
    if computed:
        terms.append(("staging through registers", computed * _REGISTER_CYCLES / 32 / rates.sub_partitions))
    return terms


def _tile_cycles(tiling: MmaTiling, step: float, steps: int, resident: int, case: MmaCase) -> float:
    """Cycles of an SM for one CTA's tile: its steps, and of what is around them what nothing else hides."""
    rates = case.target.matrix
    bm, bn, _ = tiling.tile
    size = sum(each.size_bytes for each in case.outputs)
    ops = 2 + len(case.product.epilogue.ops) + 2 * case.full_inputs
    epilogue = bm * bn * ((1 + case.full_inputs) * size / rates.l2_port_bytes_per_cycle + ops / 128)
    loop = steps * step
    if tiling.slices > 1:
        epilogue += bm * bn * 4 * (tiling.slices - 1 if tiling.algorithm == "splitk_serial" else 1) / 32
    if tiling.schedule == "pingpong":
        return max(loop, epilogue) + 0.05 * min(loop, epilogue)
    if tiling.schedule == "cooperative":
        return loop + epilogue
    fill = rates.load_latency_cycles + rates.cta_start_cycles
    return loop + (epilogue + fill) / resident


def _rounds(tiles: int, sms: int, resident: int) -> float:
    """How many tiles one after the other the SM with the most has."""
    return -(-tiles // sms)


def _round_bytes(tiling: MmaTiling, resources: MmaResources, along: Along, band: int, case: MmaCase) -> float:
    """Bytes of operands, for each element along k, that the tiles which are computed at a time read, each once."""
    m, n, _, _ = sizes_of(case)
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
    """Bytes that memory reads and writes: operands once where L2 holds them, else once for each round."""
    m, n, k, batch = sizes_of(case)
    size = case.unit.factor.size_bytes
    once = (m + n) * k * batch * size
    written = m * n * batch * sum(each.size_bytes for each in case.outputs) * (1 + case.full_inputs)
    if once > _USEFUL_L2 * case.target.l2_bytes:
        tiles = math.ceil(m / tiling.tile[0]) * math.ceil(n / tiling.tile[1]) * batch
        each = _round_bytes(tiling, resources, tiling.along, tiling.group, case) * k
        once = max(once, tiles * each)
    return once + written


def _reduction_seconds(tiling: MmaTiling, case: MmaCase) -> float:
    """What a kernel behind takes that adds up the slices: it reads them from L2 and writes the output."""
    if tiling.algorithm != "splitk_parallel":
        return 0.0
    m, n, _, batch = sizes_of(case)
    moved = m * n * batch * (4 * tiling.slices + sum(each.size_bytes for each in case.outputs))
    rates = case.target.matrix
    return case.target.launch_seconds + moved / (rates.l2_bytes_per_cycle * rates.hz)
