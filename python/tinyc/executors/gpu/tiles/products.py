"""The statements that multiply: of warps by way of registers, of warpgroups from shared memory.

Products of 16-bit floats are summed in f32, those of 8-bit integers in i32. f32 operands count as tf32: rounded on
their way to the registers of warps, or without the bits that warpgroups do not read of shared memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tinyc.dialects.gpu.dialect import accumulator_layout, fragment_tile
from tinyc.dialects.gpu.statements import LdmatrixOp, LoadFragmentOp, MmaSyncOp, WgmmaFragmentOp, WgmmaOp, ZeroOp
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.launch import accumulators_of_zero
from tinyc.executors.gpu.tiles.places import tensor_places
from tinyc.executors.gpu.tiles.team import HeldTile, Team

#: The bits of an f32 that tensor cores read as tf32.
_TF32_BITS = np.uint32(0xFFFFE000)
#: Half of the last of them.
_HALF_OF_TF32 = np.uint32(0x1000)


@dataclass(frozen=True)
class InFlight:
    """Accumulators that products are being added to: what they will be, and the events that these end with."""

    sums: Array
    events: tuple[int, ...]


@dataclass(frozen=True)
class WarpFragments:
    """What all warps have in registers of an operand: the whole side of the tile; `warps` lie so."""

    values: Array
    warps: tuple[int, ...]


def zero_accumulators(team: Team, op: ZeroOp) -> Sequence[HeldTile]:
    """Accumulators of zero."""
    return [accumulators_of_zero(op.results[0].type)]


def ldmatrix(team: Team, op: LdmatrixOp) -> Sequence[HeldTile]:
    """Load what the warps multiply next: of each warp's rows or columns a part."""
    stage, tile = team.stage(op.tiles, op.stage), fragment_tile(op.fragment.type, op.side)
    is_a, (below, beside) = op.side == "a", op.warps
    along_k = slice(op.k.value, op.k.value + (tile.columns if is_a else tile.rows))
    warps, extent = (below, tile.rows) if is_a else (beside, tile.columns)
    event, values = team.done_by_threads(), list[Array]()
    for each in _warp_parts(stage.values.shape[0 if is_a else 1], warps, op.first.value, extent):
        part = (each, along_k) if is_a else (along_k, each)
        stage.read(op.name, team.known, event, by_threads=True, part=part)
        values.append(stage.values[part])
    return [WarpFragments(as_multiplied(np.concatenate(values, axis=0 if is_a else 1)), tuple(op.warps))]


def mma_sync(team: Team, op: MmaSyncOp) -> Sequence[HeldTile]:
    """Add the product of what the warps have in registers to accumulators of as many columns of each."""
    lhs, rhs = (team.values[each] for each in (op.lhs, op.rhs))
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    warps = _, beside = layout.rows // layout.unit_rows, layout.columns // layout.unit_columns
    if lhs.warps != warps or rhs.warps != warps:
        raise KernelFault(f"'{op.name}' adds to accumulators of {warps} warps fragments of {lhs.warps} and {rhs.warps}")
    sums, extent = team.values[op.accumulator].copy(), fragment_tile(op.rhs.type, "b").columns
    for number, each in enumerate(_warp_parts(layout.columns, beside, op.column.value, extent)):
        factors = rhs.values[:, number * extent : (number + 1) * extent]
        sums[:, each] = _added(sums[:, each], lhs.values, factors)
    return [sums]


def _warp_parts(whole: int, warps: int, first: int, extent: int) -> list[slice]:
    """Where the parts of warps beside each other are, each `extent` from the warp's `first` on."""
    starts = range(first, whole, whole // warps)
    return [slice(start, start + extent) for start in starts]


def wgmma(team: Team, op: WgmmaOp) -> Sequence[HeldTile]:
    """Start the product of a stage's tiles; it reads them until its group has been waited for."""
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    row, column = team.number(op.row), team.number(op.column)
    sides = (slice(row, row + layout.rows), slice(None)), (slice(None), slice(column, column + layout.columns))
    event = team.new_event()
    team.groups["wgmma"].open.append(event)
    factors: list[Array] = []
    for tiles, part in zip((op.lhs, op.rhs), sides, strict=True):
        stage = team.stage(tiles, op.stage)
        stage.read(op.name, team.known, event, by_threads=False, part=part)
        factors.append(stage.values[part])
    return [_in_flight(team, op, event, factors)]


def load_fragment(team: Team, op: LoadFragmentOp) -> Sequence[HeldTile]:
    """Make what warpgroups multiply next of A, of the elements that a stage has for it; zeros beyond it along k."""
    stage, tile = team.stage(op.tiles, op.stage), fragment_tile(op.fragment.type, "a")
    (below, _), first = op.units, team.number(op.first)
    part = slice(first, first + below * tile.rows), slice(op.k.value, op.k.value + tile.columns)
    stage.read(op.name, team.known, team.done_by_lanes(), by_threads=True, part=part)
    shape = team.launch.shape_of(op.loaded)
    index, inside = tensor_places(team, op, shape, stage.values.shape)
    index, inside = tuple(each[part] for each in index), inside[part]
    if inside.shape != (below * tile.rows, tile.columns):
        raise KernelFault(f"'{op.name}' takes rows from {first} on, beyond its tile")
    made = team.launch.made(op, index, inside, stage.values[part])
    return [WarpFragments(as_multiplied(made), tuple(op.units))]


def wgmma_fragment(team: Team, op: WgmmaFragmentOp) -> Sequence[HeldTile]:
    """Start the product of a fragment, and of a step of a stage's tile, which it reads until it has been waited for."""
    layout, lhs = accumulator_layout(op.accumulator.type), team.values[op.lhs]
    assert layout is not None  # the statement's rule
    units = layout.rows // layout.unit_rows, layout.columns // layout.unit_columns
    if lhs.warps != units:
        raise KernelFault(f"'{op.name}' adds to accumulators of {units} warpgroups a fragment of {lhs.warps}")
    column, k = team.number(op.column), op.k.value
    event = team.new_event()
    team.groups["wgmma"].open.append(event)
    stage = team.stage(op.rhs, op.stage)
    part = slice(k, k + lhs.values.shape[1]), slice(column, column + layout.columns)
    stage.read(op.name, team.known, event, by_threads=False, part=part)
    return [_in_flight(team, op, event, [lhs.values, stage.values[part]])]


def _in_flight(team: Team, op: WgmmaOp | WgmmaFragmentOp, event: int, factors: Sequence[Array]) -> InFlight:
    """The accumulators of a product that has been started, once it has been added."""
    held = team.values[op.accumulator]
    flying = held if isinstance(held, InFlight) else InFlight(held, ())
    start = flying.sums if team.values[op.accumulate][0] else np.zeros_like(flying.sums)
    if factors[0].shape[0] != start.shape[0] or factors[1].shape[1] != start.shape[1]:
        raise KernelFault(f"'{op.name}' multiplies from a row or a column on that is beyond its tiles")
    return InFlight(_added(start, *factors), (*flying.events, event))


def _added(sums: Array, lhs: Array, rhs: Array) -> Array:
    """The sums with a product added."""
    if sums.dtype == np.int32:  # exact in f64: 2^53 / 2^14 terms
        exact = lhs.astype(np.float64) @ rhs.astype(np.float64)
        return (sums + exact.astype(np.int64)).astype(np.int32)
    return sums + _factor(lhs) @ _factor(rhs)


def as_multiplied(values: Array) -> Array:
    """A copy of operands that pass through registers, f32 rounded to tf32: to the nearest, ties away from zero."""
    if values.dtype != np.float32:
        return values.copy()
    bits = values.view(np.uint32)
    rounded = ((bits + _HALF_OF_TF32) & _TF32_BITS).view(np.float32)
    return np.where(np.isfinite(values), rounded, values)


def _factor(values: Array) -> Array:
    if values.dtype == np.float32:
        return (values.view(np.uint32) & _TF32_BITS).view(np.float32)
    return values.astype(np.float32)
