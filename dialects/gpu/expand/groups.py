"""`tgpu.commit_group`, `tgpu.wait_group` for one thread: an instruction each."""

import contextlib

from tinyc.codegen.words import equals
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import CommitGroupOp, WaitGroupOp
from tinyc.dialects.gpu.statements.instruction import emit

_COMMIT = {"cp_async": "cp.async.commit_group", "bulk": "bulk.commit_group", "wgmma": "wgmma.commit_group"}


def expand_commit_group(expansion: Expansion, op: CommitGroupOp) -> None:
    """Emit the end of the group; that of copies to global memory is of the thread that starts them."""
    with _threads_of(expansion, op.kind.value):
        emit(_COMMIT[op.kind.value])


def expand_wait_group(expansion: Expansion, op: WaitGroupOp) -> None:
    """Emit the wait; accumulators go through it, so that nothing reads them before."""
    kind, pending = op.kind.value, op.pending.value
    if kind == "cp_async":
        emit(f"cp.async.wait_group.{pending}")
    elif kind == "bulk":
        with _threads_of(expansion, kind):
            emit("bulk.wait_group.0" if pending < 0 else f"bulk.wait_group.read.{pending}")
    else:
        sums = [each for value in op.operands for each in expansion.accumulators[value]]
        ready = emit(f"wgmma.wait_group.{pending}.{len(sums)}x{sums[0].type}", *sums)
        expansion.rename(list(op.results), list(op.operands), ready)


def _threads_of(expansion: Expansion, kind: str) -> contextlib.AbstractContextManager[None]:
    """Emit what follows for the threads that start work of a kind: of those that run the statement all, or the first."""
    return one_thread(expansion) if kind == "bulk" else contextlib.nullcontext()


def one_thread(expansion: Expansion) -> contextlib.AbstractContextManager[None]:
    """Emit what follows for the first of the threads that run a statement."""
    return expansion.elements.where(equals(expansion.workers.thread, 0))
