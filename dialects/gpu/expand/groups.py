"""`tgpu.commit_group`, `tgpu.wait_group` for one thread: an instruction each."""

from tinyc.codegen.words import equals
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.statements import CommitGroupOp, WaitGroupOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir

_COMMIT = {"cp_async": "cp.async.commit_group", "bulk": "bulk.commit_group", "wgmma": "wgmma.commit_group"}


def expand_commit_group(expansion: Expansion, op: CommitGroupOp) -> None:
    """Emit the end of the group; that of copies to global memory is of the thread that starts them."""
    kind = op.kind.value
    if kind == "bulk":
        emit_by_first(expansion, _COMMIT[kind])
    else:
        emit_ptx(_COMMIT[kind])


def expand_wait_group(expansion: Expansion, op: WaitGroupOp) -> None:
    """Emit the wait; accumulators go through it, so that nothing reads them before, and no fragment is written to."""
    kind, pending = op.kind.value, op.pending.value
    if kind == "cp_async":
        emit_ptx(f"cp.async.wait_group.{pending}")
    elif kind == "bulk":
        # Threads that have started none go on: no branch is needed.
        emit_ptx("bulk.wait_group.0" if pending < 0 else f"bulk.wait_group.read.{pending}")
    else:
        sums = [each for value in op.operands for each in expansion.accumulators[value]]
        read = [each for value in op.operands for each in expansion.in_flight_words.get(value, [])]
        name = f"wgmma.wait_group.{pending}.{len(sums)}x{sums[0].type}"
        ready = emit_ptx(f"{name}.ra.{len(read)}" if read else name, *sums, *read)
        expansion.rename(list(op.results), list(op.operands), ready)


def emit_by_first(expansion: Expansion, name: str, *operands: ir.Value) -> None:
    """Emit an instruction of the first of the threads that run a statement."""
    if expansion.workers.threads == 1:
        emit_ptx(name, *operands)
    else:
        is_first = arith.extui(ir.IntegerType.get_signless(32), equals(expansion.workers.thread, 0))
        emit_ptx(f"{name}.if", *operands, is_first)
