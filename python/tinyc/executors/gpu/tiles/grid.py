"""A kernel at the level of statements, run cluster by cluster, or, where CTAs wait for each other, all at once.

In: a `gpu.func` of statements over tiles, the CTAs of its grid, and an array, a number or a map for each argument. Out:
its outputs, updated.
"""

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np

from tinyc.dialects.gpu import statements as tgpu
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.statements import AllocSmemOp, EpilogueSlabOp, SemaphoreWaitOp, StorePartialOp
from tinyc.executors.gpu.tiles import copies, products, results, waiting, workspaces
from tinyc.executors.gpu.tiles.launch import TileLaunch
from tinyc.executors.gpu.tiles.schedule import CoroutineSteps, Running, run_together
from tinyc.executors.gpu.tiles.stages import fresh_stages
from tinyc.executors.gpu.tiles.team import Executes, HeldTile, Team, TileCluster, TileCta
from tinyc.mlir import ir
from tinyc.runtime.device_memory import Argument


def _alloc_smem(team: Team, op: AllocSmemOp) -> Sequence[HeldTile]:
    """Nothing: a CTA has the stages from its start on."""
    return [None]


_STATEMENTS: Mapping[type[ir.OpView], Executes] = {
    tgpu.AllocSmemOp: _alloc_smem,
    tgpu.ZeroOp: products.zero_accumulators,
    tgpu.LoadTileOp: copies.load_tile,
    tgpu.CpAsyncOp: copies.cp_async,
    tgpu.TmaLoadOp: copies.tma_load,
    tgpu.TmaStoreOp: copies.tma_store,
    tgpu.CommitGroupOp: waiting.commit_group,
    tgpu.WaitGroupOp: waiting.wait_group,
    tgpu.MbarrierInitOp: waiting.mbarrier_init,
    tgpu.MbarrierExpectTxOp: waiting.mbarrier_expect_tx,
    tgpu.MbarrierArriveOp: waiting.mbarrier_arrive,
    tgpu.MbarrierWaitOp: waiting.mbarrier_wait,
    tgpu.NamedBarrierOp: waiting.named_barrier,
    tgpu.WarpBarrierOp: waiting.warp_barrier,
    tgpu.ClusterBarrierOp: waiting.cluster_barrier,
    tgpu.FenceAsyncOp: waiting.fence_async,
    tgpu.LdmatrixOp: products.ldmatrix,
    tgpu.MmaSyncOp: products.mma_sync,
    tgpu.WgmmaOp: products.wgmma,
    tgpu.LoadFragmentOp: products.load_fragment,
    tgpu.WgmmaFragmentOp: products.wgmma_fragment,
    tgpu.StorePartialOp: workspaces.store_partial,
    tgpu.AddPartialOp: workspaces.add_partial,
    tgpu.SemaphoreWaitOp: workspaces.semaphore_wait,
    tgpu.SemaphoreReleaseOp: workspaces.semaphore_release,
    tgpu.EpilogueSlabOp: results.epilogue_slab,
    tgpu.StGlobalVecOp: results.st_global_vec,
}


def has_tile_statements(kernel: GpuKernel) -> bool:
    """Whether a kernel is one that `run_tile_kernel` runs: it finishes accumulators by slabs, or hands them on."""
    return any(isinstance(op, EpilogueSlabOp | StorePartialOp) for op in kernel.ops)


def run_tile_kernel(kernel: GpuKernel, grid: Sequence[int], arguments: Sequence[Argument]) -> None:
    """Run a kernel of `grid` CTAs along x, y and z; buffers are arrays of one axis, of their storage type.

    Raises:
        KernelFault: a tile is used before it is there or while it is filled, outputs are not written once, or all wait.
    """
    launch = TileLaunch.of(kernel, grid, arguments)
    counts = [range(0, extent, size) for extent, size in zip(grid, kernel.cluster, strict=True)]
    take_turns = any(isinstance(op, SemaphoreWaitOp) for op in kernel.ops)
    running: list[Running] = []
    with np.errstate(all="ignore"):
        for corner in itertools.product(*reversed(counts)):
            _start_cluster(launch, corner[::-1], running)
            if not take_turns:
                run_together(running)
        run_together(running)
        launch.write_outputs()


def _start_cluster(launch: TileLaunch, corner: tuple[int, ...], running: list[Running]) -> None:
    """Add the cluster of CTAs from a place in the grid on to those that run."""
    kernel = launch.kernel
    cluster = TileCluster(launch, _STATEMENTS, running=running)
    inside = itertools.product(*(range(size) for size in reversed(kernel.cluster)))
    for rank, offset in enumerate(inside):
        place = tuple(start + step for start, step in zip(corner, offset[::-1], strict=True))
        name = f"CTA {', '.join(map(str, place))}"
        cta = TileCta(cluster, place, rank, fresh_stages(kernel, name))
        cluster.ctas.append(cta)
        team = Team(cta, name, math.prod(kernel.cta_shape), _numbers(launch), None)
        team.steps = _whole(team)
        running.append(team)


def _whole(team: Team) -> CoroutineSteps:
    """The steps of a CTA's team; behind them its shared memory is gone."""
    yield from team.run(team.launch.kernel.block)
    team.cta.end(team.known.handed_on)
    return []


def _numbers(launch: TileLaunch) -> Mapping[ir.Value, HeldTile]:
    """The extents among the arguments."""
    return {value: np.full(1, launch.symbols[name], np.int64) for name, value in launch.kernel.symbols.items()}
