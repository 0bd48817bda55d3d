"""The statements that move tiles: `tgpu.load_tile`, `tgpu.cp_async`, and TMA's loads and stores."""

from collections.abc import Sequence

import numpy as np

from tinyc.dialects.gpu.dialect import staged_tile
from tinyc.dialects.gpu.shared_layout import SharedLayout
from tinyc.dialects.gpu.statements import CpAsyncOp, LoadTileOp, TmaLoadOp, TmaStoreOp
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.places import matrix_places, tensor_places
from tinyc.executors.gpu.tiles.products import as_multiplied
from tinyc.executors.gpu.tiles.stages import WHOLE
from tinyc.executors.gpu.tiles.team import HeldTile, Team, mbarrier_of
from tinyc.mlir import ir
from tinyc.runtime.device_memory import PlacedTensorMap


def load_tile(team: Team, op: LoadTileOp) -> Sequence[HeldTile]:
    """Fill a stage with elements of a value that a body computes; zeros beyond it."""
    value, stage = team.launch.loaded(op), team.stage(op.tiles, op.stage)
    index, inside = tensor_places(team, op, value.shape, stage.values.shape)
    stage.fill(op.name, team.known, team.done_by_threads(), by_threads=True)
    stage.values[...] = as_multiplied(np.where(inside, value[index], np.zeros((), value.dtype)))
    return []


def cp_async(team: Team, op: CpAsyncOp) -> Sequence[HeldTile]:
    """Fill a stage from a matrix; it is there when the thread has waited for its group."""
    stage, layout = team.stage(op.tiles, op.stage), staged_tile(op.tiles.type).layout
    memory = team.launch.tensors[op.buffer].reshape(-1)
    at, inside = matrix_places(team, op, stage.values.shape, memory.size)
    lines = (at, inside) if layout.order == "row" else (at.T, inside.T)
    _require_chunks(*lines, layout, ir.IntegerAttr(op.attributes["bytes"]).value)
    event = team.new_event()
    team.groups["cp_async"].open.append(event)
    stage.fill(op.name, team.known, event, by_threads=True)
    stage.values[...] = np.where(inside, memory[at], 0)
    return []


def _require_chunks(at: Array, inside: Array, layout: SharedLayout, size: int) -> None:
    """Check that what one copy moves are neighbours in the buffer, from a multiple of its size on."""
    width = size // layout.element_bytes
    lines, along = at.shape
    chunks, there = (each.reshape(lines, along // width, width) for each in (at, inside))
    apart = chunks - chunks[..., :1] != np.arange(width)
    if np.any(apart & there) or np.any(there[..., 0] & (chunks[..., 0] * layout.element_bytes % size != 0)):
        raise KernelFault(f"'tgpu.cp_async' copies {size} bytes that are no neighbours, or not at a multiple of that")


def tma_load(team: Team, op: TmaLoadOp) -> Sequence[HeldTile]:
    """Fill a stage, of all CTAs that share it, by boxes; the bytes count at the mbarriers."""
    layout, ctas = staged_tile(op.tiles.type).layout, op.multicast.value
    cluster, rank = team.cta.cluster.ctas, team.cta.rank if ctas > 1 else 0
    if ctas > 1 and len(cluster) != ctas:
        raise KernelFault(f"'{op.name}' is shared by {ctas} CTAs, and the cluster has {len(cluster)}")
    lines = slice(rank * (layout.lines // ctas), (rank + 1) * (layout.lines // ctas))
    at, inside, tensor_map = _boxes(team, op, layout, lines, ctas)
    values = np.where(inside, tensor_map.array[at], 0)
    part = (lines, WHOLE[1]) if layout.order == "row" else (WHOLE[0], lines)
    event, stage = team.new_event(), team.number(op.stage)
    for cta in cluster if ctas > 1 else [team.cta]:
        if cta is not team.cta:
            cta.used_by_others.add(event)
        barrier = mbarrier_of(team, op.barriers, op.stage, cta)
        filled = cta.stages[op.tiles][stage]
        filled.fill(op.name, team.known, event, by_threads=False, part=part)
        filled.values[part] = values if layout.order == "row" else values.T
        barrier.bring(values.size * layout.element_bytes, event)
    return []


def tma_store(team: Team, op: TmaStoreOp) -> Sequence[HeldTile]:
    """Write a stage to an output, as far as it has elements there; reading it is over when its group is waited for."""
    stage, layout = team.stage(op.tiles, op.stage), staged_tile(op.tiles.type).layout
    event = team.new_event()
    team.groups["bulk"].open.append(event)
    stage.read(op.name, team.known, event, by_threads=False)
    at, inside, _ = _boxes(team, op, layout, slice(0, layout.lines), 1)
    places = stage.result_places(op.name)
    places = places if layout.order == "row" else places.T
    team.launch.outputs[op.buffer].write(op.name, at[inside], places[inside])
    return []


def _boxes(
    team: Team, op: TmaLoadOp | TmaStoreOp, layout: SharedLayout, lines: slice, ctas: int
) -> tuple[Array, Array, PlacedTensorMap]:
    """Where the elements of some lines of a tile are in the buffer of a map, and which the map's tensor has."""
    tensor_map = team.launch.maps[op.map]
    place = [team.number(each) for each in op.place]
    box = (layout.line_elements, layout.lines // ctas, *(1 for _ in place[2:]))
    if (tensor_map.box, tensor_map.swizzle) != (box, layout.swizzle):
        found = f"a box {tensor_map.box} with a swizzle of {tensor_map.swizzle} bytes"
        raise KernelFault(f"'{op.name}' copies by a map with {found}; its tiles take {box} and {layout.swizzle}")
    rows = (place[1] + np.arange(layout.lines)[lines]).reshape(-1, 1)
    columns = (place[0] + np.arange(layout.along)).reshape(1, -1)
    first, *others = (stride // layout.element_bytes for stride in tensor_map.strides)
    start = sum(at * stride for at, stride in zip(place[2:], others, strict=True))
    is_there = all(0 <= at < dim for at, dim in zip(place[2:], tensor_map.dims[2:], strict=True))
    inside = _within(rows, tensor_map.dims[1]) & _within(columns, tensor_map.dims[0]) & is_there
    return np.where(inside, start + rows * first + columns, 0), inside, tensor_map


def _within(positions: Array, extent: int) -> Array:
    return (positions >= 0) & (positions < extent)
