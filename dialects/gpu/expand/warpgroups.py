"""`tgpu.warpgroups` for one thread: a branch that its warpgroups take; and the barriers and fences that go with it."""

from tinyc.codegen.words import Word, as_i32, as_index, equals, is_below
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.fragment_layout import WARPGROUP_WARPS
from tinyc.dialects.gpu.statements import ClusterBarrierOp, FenceAsyncOp, NamedBarrierOp, WarpBarrierOp, WarpgroupsOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith
from tinyc.target.role_registers import is_raise


def expand_warpgroups(expansion: Expansion, op: WarpgroupsOp) -> None:
    """Emit the branch, with the change of registers, and in it the body."""
    first, count, registers = op.first.value, op.count.value, op.registers.value
    everyone = expansion.workers
    group = everyone.warp // WARPGROUP_WARPS
    inside = equals(group, first) if count == 1 else is_below(group - first, count)
    with expansion.elements.where(inside):
        last = "" if count == 1 else f" to {first + count - 1}"
        comment(f"warpgroup{'s' if last else ''} {first}{last}{': one thread' if op.one_thread.value else ''}")
        if registers:
            raises = is_raise(registers, everyone.threads, expansion.kernel.target)
            emit_ptx(f"setmaxnreg.{'inc' if raises else 'dec'}.{registers}")
        workers = everyone.warpgroup(first)
        expansion.values[op.body_block.arguments[0]] = as_index(workers.group)
        with expansion.among(workers):
            if op.one_thread.value:
                is_first = equals(workers.warp, 0)
                elected = arith.andi(is_first, equals(Word(emit_ptx("elect")[0]), 1))
                with expansion.elements.where(elected), expansion.among(workers.alone()):
                    expansion.expand(op.inner)
            else:
                expansion.expand(op.inner)


def expand_named_barrier(expansion: Expansion, op: NamedBarrierOp) -> None:
    """Emit the wait at the warpgroup's barrier."""
    emit_ptx("barrier.sync", as_i32(expansion.workers.group + op.id.value), as_i32(op.threads.value))


def expand_warp_barrier(expansion: Expansion, op: WarpBarrierOp) -> None:
    """Emit the barrier."""
    emit_ptx("barrier.warp")


def expand_cluster_barrier(expansion: Expansion, op: ClusterBarrierOp) -> None:
    """Emit the arrival and the wait; a relaxed arrival takes no `membar`, and a fence of its own."""
    if op.relaxed.value:
        emit_ptx("fence.mbarrier_init")
    emit_ptx("cluster.arrive.relaxed" if op.relaxed.value else "cluster.arrive")
    emit_ptx("cluster.wait")


def expand_fence_async(expansion: Expansion, op: FenceAsyncOp) -> None:
    """Emit the fence."""
    emit_ptx("fence.proxy.async")
