"""The statements that a kernel is written in: one file each, with the op and its rule.

What becomes of a statement stands in files of the same name: its code for one thread in `gpu/expand/`, and, if it
writes outputs, the sequential code that a CUDA file checks it against in `cuda/main/reference/`. What a thread does in
a `tgpu` op is an op of the scalar level, with a file in `gpu/to_nvvm/` and one, for its text, in `cuda/printer/ops/`.
The two lists below are all that names them. In reading order, which is that of a kernel:

    alloc_smem, zero     what a matrix product works on: tiles in shared memory, an accumulator tile in registers
    load_tile, fma       a step along k: a tile of each operand, and their product added to the accumulator
    epilogue             what the region makes of the accumulator, written to the outputs
    share                operands that a CTA reads once, for the statements behind it
    map_runs             regions without reductions: neighbours for each thread
    transpose            the same where operands lie along another axis
    reduce_rows          regions with reductions: threads share a row
    scan_rows            regions with a cumulative reduction: threads share a row
    map                  any other region: each element by itself
    topk, scatter_add    regions that walk an axis in order, or write where data says
    atomic_add           of the scalar level: an addition to memory
    report_index         of the scalar level: the note of an index out of range
    load_vector          of the scalar level: neighbouring elements in one access
    store_vector         the same the other way
    rules                what several of them require
"""

import importlib
from collections.abc import Iterable
from typing import Any

from tinyc.dialects.gpu.dialect import Tgpu as Tgpu
from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.alloc_smem import AllocSmemOp
from tinyc.dialects.gpu.statements.atomic_add import AtomicAddOp
from tinyc.dialects.gpu.statements.epilogue import EpilogueOp
from tinyc.dialects.gpu.statements.fma import FmaOp
from tinyc.dialects.gpu.statements.load_tile import LoadTileOp
from tinyc.dialects.gpu.statements.load_tile import YieldOp as YieldOp
from tinyc.dialects.gpu.statements.load_vector import LoadVectorOp
from tinyc.dialects.gpu.statements.map import MapOp
from tinyc.dialects.gpu.statements.map_runs import MapRunsOp
from tinyc.dialects.gpu.statements.reduce_rows import ReduceRowsOp
from tinyc.dialects.gpu.statements.report_index import ReportIndexOp
from tinyc.dialects.gpu.statements.scan_rows import ScanRowsOp
from tinyc.dialects.gpu.statements.scatter_add import ScatterAddOp
from tinyc.dialects.gpu.statements.share import ShareOp
from tinyc.dialects.gpu.statements.store_vector import StoreVectorOp
from tinyc.dialects.gpu.statements.topk import TopkOp
from tinyc.dialects.gpu.statements.transpose import TransposeOp
from tinyc.dialects.gpu.statements.zero import ZeroOp
from tinyc.mlir import memref

#: Statements over tiles: all that --gpu-expand replaces.
STATEMENT_OPS: tuple[type[TgpuOp], ...] = (
    AllocSmemOp,
    ZeroOp,
    LoadTileOp,
    FmaOp,
    EpilogueOp,
    ShareOp,
    MapRunsOp,
    TransposeOp,
    ReduceRowsOp,
    ScanRowsOp,
    MapOp,
    TopkOp,
    ScatterAddOp,
)
#: The ops of the scalar level that are not upstream's: what one thread does to memory.
SCALAR_OPS: tuple[type[TgpuOp], ...] = (
    AtomicAddOp,
    ReportIndexOp,
    LoadVectorOp,
    StoreVectorOp,
)
#: The ops of the scalar level that read memory, and write none.
READING_OPS = (memref.LoadOp, LoadVectorOp)


def by_op(ops: Iterable[type[TgpuOp]], package: str, name: str) -> dict[type[TgpuOp], Any]:
    """A table of a package's functions by op: each is `name` in the file that is called like the op's file here."""
    files = {op: op.__module__.rpartition(".")[2] for op in ops}
    return {op: getattr(importlib.import_module(f"{package}.{file}"), name) for op, file in files.items()}
