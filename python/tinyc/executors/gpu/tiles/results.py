"""The statements that finish accumulators and write outputs."""

from collections.abc import Sequence

import numpy as np

from tinyc.dialects.gpu.dialect import accumulator_layout, staged_tile
from tinyc.dialects.gpu.fragment_layout import FragmentLayout
from tinyc.dialects.gpu.statements import EpilogueSlabOp, StGlobalVecOp
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.launch import NOWHERE
from tinyc.executors.gpu.tiles.places import matrix_places, tensor_places
from tinyc.executors.gpu.tiles.team import HeldTile, Team


def epilogue_slab(team: Team, op: EpilogueSlabOp) -> Sequence[HeldTile]:
    """Fill a stage with what becomes of a slab of the accumulators: with where that will be in the body's result."""
    layout = accumulator_layout(op.accumulator.type)
    assert layout is not None  # the statement's rule
    sums, stage = team.values[op.accumulator], team.stage(op.tiles, op.stage)
    index, inside = tensor_places(team, op, team.launch.shape_of(op.accumulated), sums.shape)
    columns = _columns_of_slab(layout, *op.slab)
    inside = inside[:, columns]
    chosen = tuple(each[:, columns][inside] for each in index)
    beside: list[Array] = []
    for tiles in op.residuals:
        read = team.stage(tiles, op.stage)
        read.read(op.name, team.known, team.done_by_threads(), by_threads=True)
        beside.append(read.values[inside])
    stage.fill(op.name, team.known, team.done_by_threads(), by_threads=True)
    stage.places = np.full(stage.values.shape, NOWHERE, np.int64)
    stage.places[inside] = team.launch.finish(op, chosen, [sums[:, columns][inside], *beside])
    return []


def _columns_of_slab(layout: FragmentLayout, first: int, width: int) -> Array:
    """The columns of a slab: so many of each unit, those of units beside each other following each other."""
    units = np.arange(0, layout.columns, layout.unit_columns)
    return (units[:, None] + first + np.arange(width)[None, :]).reshape(-1)


def st_global_vec(team: Team, op: StGlobalVecOp) -> Sequence[HeldTile]:
    """Write a stage to an output, as far as that has elements there."""
    stage, output = team.stage(op.tiles, op.stage), team.launch.outputs[op.buffer]
    stage.read(op.name, team.known, team.done_by_threads(), by_threads=True)
    at, inside = matrix_places(team, op, stage.values.shape, output.places.size)
    width, layout = op.width.value, staged_tile(op.tiles.type).layout
    lines = (at, inside) if layout.order == "row" else (at.T, inside.T)
    starts, there = (each.reshape(layout.lines, layout.along // width, width) for each in lines)
    apart = (starts - starts[..., :1] != np.arange(width)) | ~there
    if np.any(apart & there[..., :1]) or np.any(there[..., 0] & (starts[..., 0] % width != 0)):
        size = width * layout.element_bytes
        raise KernelFault(f"'{op.name}' writes {size} bytes that are no neighbours, or not at a multiple of that")
    output.write(op.name, at[inside], stage.result_places(op.name)[inside])
    return []
