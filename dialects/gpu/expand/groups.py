"""`tgpu.commit_group`, `tgpu.wait_group` for one thread: an instruction each."""

from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import CommitGroupOp, WaitGroupOp
from tinyc.dialects.gpu.statements.instruction import emit

_COMMIT = {"cp_async": "cp.async.commit_group", "bulk": "bulk.commit_group", "wgmma": "wgmma.commit_group"}


def expand_commit_group(expansion: Expansion, op: CommitGroupOp) -> None:
    """Emit the end of the group."""
    emit(_COMMIT[op.kind.value])


def expand_wait_group(expansion: Expansion, op: WaitGroupOp) -> None:
    """Emit the wait; accumulators go through it, so that nothing reads them before."""
    kind, pending = op.kind.value, op.pending.value
    if kind == "cp_async":
        emit(f"cp.async.wait_group.{pending}")
    elif kind == "bulk":
        emit("bulk.wait_group.0" if pending < 0 else f"bulk.wait_group.read.{pending}")
    else:
        sums = [each for value in op.operands for each in expansion.accumulators[value]]
        ready = emit(f"wgmma.wait_group.{pending}.{len(sums)}x{sums[0].type}", *sums)
        expansion.rename(list(op.results), list(op.operands), ready)
