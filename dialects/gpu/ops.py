"""The `tgpu` dialect: a kernel as statements over tiles, and the types of what they work on.

A kernel is an upstream `gpu.func` in a `gpu.module`. Its arguments are the region's buffers (`!region.memref<…>`), then
a status buffer where an index may be out of range, then the extents as `index`. The body of a statement is the region's
own ops: tensor values, read where they are needed and never stored. Statements run in every thread of the block, which
share the work; `gpu-expand` says how.
"""

from typing import Any

from tinyc.mlir import ext, ir

#: The memory spaces of a kernel's buffers, and of what the threads of a block share.
GLOBAL, SHARED = "#gpu.address_space<global>", "#gpu.address_space<workgroup>"


class Tgpu(ext.Dialect, name="tgpu"):
    """Kernels as statements over tiles."""


class SmemType(Tgpu.Type, name="smem"):
    """`!tgpu.smem<tensor<64x32xf16>, 2 : i64>`: a ring of `stages` row-major tiles in a block's shared memory."""

    tile: Any
    stages: ir.IntegerAttr


class AccType(Tgpu.Type, name="acc"):
    """`!tgpu.acc<tensor<64x64xf32>>`: a tile of sums in the registers of the block's threads, 2 × 2 at a time."""

    tile: Any


class TgpuOp(Tgpu.Operation):
    """What every op of the dialect shares: its rule in `verify`, reported at the op."""

    def verify_invariants(self: Any) -> bool:
        """Check the op; report what is wrong at its location."""
        from tinyc.dialects.gpu.verify import report_op

        return report_op(self)


class AllocSmemOp(TgpuOp, name="alloc_smem"):
    """Reserve a ring of tiles in shared memory."""

    tiles: ext.Result[Any]


class ZeroOp(TgpuOp, name="zero"):
    """A tile of sums over nothing."""

    sums: ext.Result[Any]


class LoadTileOp(TgpuOp, name="load_tile"):
    """Fill one tile of shared memory with elements of a value; outside of the value are zeros.

    The body computes the value, whose axes are those of the product, and yields it (`tgpu.yield`). Element (r, c) of
    the tile is the value's element at row `row + r` of its axes `rows` taken together, row-major, at column
    `column + c` of its axes `columns`, and at `batch` of its axes `batches`; its other axes are read at 0. `guarded`
    names the sides, of "rows" and "columns", where the tile may reach beyond the value.
    """

    tiles: ext.Operand[Any]
    slot: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    rows: Any
    columns: Any
    batches: Any
    guarded: ir.ArrayAttr
    body: ext.Region


class FmaOp(TgpuOp, name="fma"):
    """Add the product of two tiles in shared memory, [BM, BK] and [BK, BN], to a tile of sums."""

    lhs: ext.Operand[Any]
    rhs: ext.Operand[Any]
    slot: ext.Operand[Any]
    sums: ext.Operand[Any]
    result: ext.Result[Any]


class EpilogueOp(TgpuOp, name="epilogue"):
    """Finish a tile of sums in registers and write it.

    The body is what the region does after the sum: its argument is the sum as a tensor (in the type that the region's
    `tiny.reduce` gives it), it ends in a `region.yield` for each output. `rows`, `columns` and `batches` are all axes
    of that tensor, as in `tgpu.load_tile`; where a side of `guarded` reaches beyond it nothing is written. `kinds` says
    of each `region.read` in the body how its elements follow the tile: "row" (one for each row), "column", "full",
    "scalar", or "gather" (any other way).
    """

    sums: ext.Operand[Any]
    batch: ext.Operand[Any]
    row: ext.Operand[Any]
    column: ext.Operand[Any]
    rows: Any
    columns: Any
    batches: Any
    guarded: ir.ArrayAttr
    kinds: ir.ArrayAttr
    body: ext.Region


class MapOp(TgpuOp, name="map"):
    """Compute each element of the outputs by itself; the threads of the grid share them.

    The body is a region's, with a `region.yield` for each output. A `tiny.scatter` in it is all that it yields, and
    puts: an element is the last update that it gets, or else the data's.
    """

    body: ext.Region


class TopkOp(TgpuOp, name="topk"):
    """Find the best elements along an axis; the threads of the grid share the other axes.

    The body is a region's, with one `tiny.topk` that is all that it yields.
    """

    body: ext.Region


class ScatterAddOp(TgpuOp, name="scatter_add"):
    """Add updates to an output that holds the data already, each by an atomic addition; the threads share the updates.

    The body is a region's, with one `tiny.scatter` that adds and is all that it yields.
    """

    body: ext.Region


class YieldOp(TgpuOp, name="yield"):
    """The value that the body of a `tgpu.load_tile` computes."""

    value: ext.Operand[Any]


class AtomicAddOp(TgpuOp, name="atomic_add"):
    """Add a scalar to an element of a buffer as one step: what `tgpu.scatter_add` becomes."""

    value: ext.Operand[Any]
    buffer: ext.Operand[Any]
    index: ext.Operand[Any]


class ReportIndexOp(TgpuOp, name="report_index"):
    """Note in the status buffer that an index was out of range, unless another one is noted there."""

    status: ext.Operand[Any]
    position: ext.Operand[Any]
