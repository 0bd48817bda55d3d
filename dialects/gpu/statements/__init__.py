"""The statements that a kernel is written in: one file each, with the op and its rule.

What becomes of a statement stands in files of the same name: its code for one thread in `gpu/expand/`, and, if it
writes outputs, the sequential code that a CUDA file checks it against in `cuda/main/reference/`. What a thread does in
a `tgpu` op is an op of the scalar level, with a file in `gpu/to_nvvm/` and one, for its text, in `cuda/printer/ops/`.
The two lists below are all that names them. In reading order, which is that of a kernel:

    alloc_smem, zero     what a matrix product works on: tiles in shared memory, an accumulator tile in registers
    load_tile, fma       a step along k: a tile of each operand, and their product added to the accumulator
    warpgroups           statements for some warpgroups of a CTA, and the barriers between them
    cp_async, tma        copies of tiles that go on beside the threads
    groups, mbarrier     how threads wait for these
    mma_sync, wgmma      the product of two tiles by tensor cores: of a warp, of warpgroups
    wgmma_fragment       the same where one operand is made in registers of what its tile has
    partial_sums         accumulators of a part of k, handed on through a workspace
    semaphore            how CTAs take turns, by numbers in a workspace
    epilogue             what the region makes of the accumulator, written to the outputs
    epilogue_slab        the same by way of shared memory, some columns at a time
    st_global_vec        what is there, written to an output
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
    address, map_address
                         of the scalar level: where an element is, and a tensor map
    instruction          of the scalar level: PTX instructions by name
    rules                what several of them require
"""

import importlib
from collections.abc import Iterable
from typing import Any

from tinyc.dialects.gpu.dialect import Tgpu as Tgpu
from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.address import AddressOp
from tinyc.dialects.gpu.statements.alloc_smem import AllocSmemOp
from tinyc.dialects.gpu.statements.atomic_add import AtomicAddOp
from tinyc.dialects.gpu.statements.cp_async import CpAsyncOp
from tinyc.dialects.gpu.statements.epilogue import EpilogueOp
from tinyc.dialects.gpu.statements.epilogue_slab import EpilogueSlabOp
from tinyc.dialects.gpu.statements.fma import FmaOp
from tinyc.dialects.gpu.statements.groups import CommitGroupOp, WaitGroupOp
from tinyc.dialects.gpu.statements.instruction import InstructionOp
from tinyc.dialects.gpu.statements.load_tile import LoadTileOp
from tinyc.dialects.gpu.statements.load_tile import YieldOp as YieldOp
from tinyc.dialects.gpu.statements.load_vector import LoadVectorOp
from tinyc.dialects.gpu.statements.map import MapOp
from tinyc.dialects.gpu.statements.map_address import MapAddressOp
from tinyc.dialects.gpu.statements.map_runs import MapRunsOp
from tinyc.dialects.gpu.statements.mbarrier import (
    MbarrierArriveOp,
    MbarrierExpectTxOp,
    MbarrierInitOp,
    MbarrierWaitOp,
)
from tinyc.dialects.gpu.statements.mma_sync import LdmatrixOp, MmaSyncOp
from tinyc.dialects.gpu.statements.partial_sums import AddPartialOp, StorePartialOp
from tinyc.dialects.gpu.statements.reduce_rows import ReduceRowsOp
from tinyc.dialects.gpu.statements.report_index import ReportIndexOp
from tinyc.dialects.gpu.statements.scan_rows import ScanRowsOp
from tinyc.dialects.gpu.statements.scatter_add import ScatterAddOp
from tinyc.dialects.gpu.statements.semaphore import SemaphoreReleaseOp, SemaphoreWaitOp
from tinyc.dialects.gpu.statements.share import ShareOp
from tinyc.dialects.gpu.statements.st_global_vec import StGlobalVecOp
from tinyc.dialects.gpu.statements.store_vector import StoreVectorOp
from tinyc.dialects.gpu.statements.tma import TmaLoadOp, TmaStoreOp
from tinyc.dialects.gpu.statements.topk import TopkOp
from tinyc.dialects.gpu.statements.transpose import TransposeOp
from tinyc.dialects.gpu.statements.warpgroups import (
    ClusterBarrierOp,
    FenceAsyncOp,
    NamedBarrierOp,
    WarpBarrierOp,
    WarpgroupsOp,
)
from tinyc.dialects.gpu.statements.wgmma import WgmmaOp
from tinyc.dialects.gpu.statements.wgmma_fragment import LoadFragmentOp, WgmmaFragmentOp
from tinyc.dialects.gpu.statements.zero import ZeroOp
from tinyc.mlir import memref

#: Statements over tiles: all that --gpu-expand replaces.
STATEMENT_OPS: tuple[type[TgpuOp], ...] = (
    AllocSmemOp,
    ZeroOp,
    LoadTileOp,
    FmaOp,
    WarpgroupsOp,
    CpAsyncOp,
    TmaLoadOp,
    CommitGroupOp,
    WaitGroupOp,
    MbarrierInitOp,
    MbarrierExpectTxOp,
    MbarrierArriveOp,
    MbarrierWaitOp,
    NamedBarrierOp,
    WarpBarrierOp,
    ClusterBarrierOp,
    FenceAsyncOp,
    LdmatrixOp,
    MmaSyncOp,
    WgmmaOp,
    LoadFragmentOp,
    WgmmaFragmentOp,
    StorePartialOp,
    AddPartialOp,
    SemaphoreWaitOp,
    SemaphoreReleaseOp,
    EpilogueOp,
    EpilogueSlabOp,
    StGlobalVecOp,
    TmaStoreOp,
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
    AddressOp,
    MapAddressOp,
    InstructionOp,
)
#: The ops of the scalar level that read memory, and write none.
READING_OPS = (memref.LoadOp, LoadVectorOp)


def by_op(ops: Iterable[type[TgpuOp]], package: str, name: str) -> dict[type[TgpuOp], Any]:
    """A table of a package's functions by op: each is `name` in the file that is called like the op's file here.

    Where that file has several ops, it is `name` with the op's name behind it.
    """
    table: dict[type[TgpuOp], Any] = {}
    for op in ops:
        file = importlib.import_module(f"{package}.{op.__module__.rpartition('.')[2]}")
        own = f"{name}_{op.OPERATION_NAME.rpartition('.')[2]}"
        table[op] = getattr(file, own if hasattr(file, own) else name)
    return table
