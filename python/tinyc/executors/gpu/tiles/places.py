"""Where the elements of a tile are: in a tensor whose axes are its rows and columns, or in a matrix in a buffer."""

from typing import TypeAlias

import numpy as np

from tinyc.analysis.strided_access import Side
from tinyc.dialects.gpu.expand.place import PlacedOp, sides_of
from tinyc.dialects.gpu.statements import CpAsyncOp, StGlobalVecOp
from tinyc.dialects.gpu.strided_matrix import StridedMatrix
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.team import Team
from tinyc.mlir import ir

_Shape: TypeAlias = tuple[int, ...]


def tensor_places(team: Team, op: PlacedOp, shape: _Shape, tile: _Shape) -> tuple[tuple[Array, ...], Array]:
    """The index, in a tensor of `shape`, of each element of a tile, and which elements the tensor has.

    What it does not have is at index 0.

    Raises:
        KernelFault: the tile reaches beyond it at a side that is not guarded.
    """
    rows, columns = _inside(team, op, tile, [_count(shape, sides_of(op)[side]) for side in ("rows", "columns")])
    inside = (rows >= 0)[:, None] & (columns >= 0)[None, :]
    index = [np.zeros(tile, np.int64) for _ in shape]
    positions = {
        "batches": np.full(tile, team.number(op.batch)),
        "rows": np.broadcast_to(np.maximum(rows, 0)[:, None], tile),
        "columns": np.broadcast_to(np.maximum(columns, 0)[None, :], tile),
    }
    for side, axes in sides_of(op).items():
        if axes:
            parts = np.unravel_index(positions[side], [shape[axis] for axis in axes])
            for axis, part in zip(axes, parts, strict=True):
                index[axis] = part
    return tuple(index), inside


def matrix_places(team: Team, op: CpAsyncOp | StGlobalVecOp, tile: _Shape, size: int) -> tuple[Array, Array]:
    """Where each element of a tile is in a buffer of `size` elements, and which elements the matrix has.

    Raises:
        KernelFault: the tile reaches beyond the matrix at a side that is not guarded, or the matrix beyond the buffer.
    """
    matrix, extent = StridedMatrix.of(op), team.launch.extent
    rows, columns = _inside(team, op, tile, [extent(matrix.extent(side)) for side in ("rows", "columns")])
    inside = (rows >= 0)[:, None] & (columns >= 0)[None, :]
    first = extent(matrix.offset) + int(_offsets(team, matrix.batches, np.array([team.number(op.batch)]))[0])
    at = first + _offsets(team, matrix.rows, rows)[:, None] + _offsets(team, matrix.columns, columns)[None, :]
    if np.any(inside & ((at < 0) | (at >= size))):
        raise KernelFault(f"'{op.name}' has a matrix that reaches beyond its buffer")
    return np.where(inside, at, 0), inside


def _inside(
    team: Team, op: PlacedOp | CpAsyncOp | StGlobalVecOp, tile: _Shape, extents: list[int]
) -> tuple[Array, Array]:
    """The rows and columns of a tile in what it is of; -1 beyond, or at a side that is clamped the last ones again."""
    guarded, clamped = _names(op.guarded), _names(op.clamped) if isinstance(op, CpAsyncOp) else set[str]()
    found: list[Array] = []
    for side, start, count, extent in zip(("rows", "columns"), (op.row, op.column), tile, extents, strict=True):
        positions = team.number(start) + np.arange(count)
        if side in clamped:
            width = op.width if isinstance(op, CpAsyncOp) and side == op.contiguous else 1
            inside = np.arange(count) % width
            positions = np.minimum(positions - inside, extent - width) + inside
        beyond = (positions < 0) | (positions >= extent)
        if np.any(beyond) and side not in guarded:
            raise KernelFault(f"'{op.name}' reaches {side} {positions[-1]} of {extent}, where it is not guarded")
        found.append(np.where(beyond, -1, positions))
    return found[0], found[1]


def _names(sides: ir.ArrayAttr) -> set[str]:
    return {side.value for side in sides if isinstance(side, ir.StringAttr)}


def _count(shape: _Shape, axes: tuple[int, ...]) -> int:
    return int(np.prod([shape[axis] for axis in axes], dtype=np.int64))


def _offsets(team: Team, side: Side, positions: Array) -> Array:
    """How far, in elements, positions along a side are from its start."""
    if not side:
        return np.zeros(positions.shape, np.int64)
    sizes = [team.launch.extent(run.extent) for run in side]
    parts = np.unravel_index(np.maximum(positions, 0), sizes)
    return sum(part * team.launch.extent(run.stride) for part, run in zip(parts, side, strict=True))  # pyright: ignore
