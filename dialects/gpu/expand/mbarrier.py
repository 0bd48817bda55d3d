"""mbarriers for one thread: where they are, and the instruction for each statement."""

import functools

from tinyc.codegen.words import Word, as_i32, equals, is_below
from tinyc.dialects.gpu.dialect import mbarrier_stages
from tinyc.dialects.gpu.expand.alloc_smem import dynamic_address
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.groups import emit_by_first
from tinyc.dialects.gpu.expand.swizzled_buffer import Mbarriers
from tinyc.dialects.gpu.statements import MbarrierArriveOp, MbarrierExpectTxOp, MbarrierInitOp, MbarrierWaitOp
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import arith, ir


def expand_mbarrier_init(expansion: Expansion, op: MbarrierInitOp) -> None:
    """Emit the start of each barrier, by thread 0; behind a barrier of the CTA copies need no fence to see it."""
    barriers = Mbarriers(dynamic_address(expansion, op.barriers))
    expansion.barriers[op.barriers] = barriers
    with expansion.elements.where(equals(expansion.workers.thread, 0)):
        for stage in range(mbarrier_stages(op.barriers.type)):
            emit_ptx("mbarrier.init", as_i32(barriers.address(stage)), as_i32(op.arrivals.value))


def expand_mbarrier_expect_tx(expansion: Expansion, op: MbarrierExpectTxOp) -> None:
    """Emit the arrival with what it expects."""
    emit_by_first(expansion, "mbarrier.expect_tx", as_i32(_barrier(expansion, op)), as_i32(op.bytes.value))


def expand_mbarrier_arrive(expansion: Expansion, op: MbarrierArriveOp) -> None:
    """Emit the arrival by a lane of each warp; of a cluster's CTAs each is another lane's."""
    workers, ctas = expansion.workers, op.ctas.value
    barrier = _barrier(expansion, op)
    conditions = [is_below(workers.lane, ctas), *(expansion.values[each] for each in op.condition)]
    mine = functools.reduce(arith.andi, conditions)
    arrives = arith.extui(ir.IntegerType.get_signless(32), mine)
    if ctas == 1:
        emit_ptx("mbarrier.arrive.if", as_i32(barrier), arrives)
    else:
        emit_ptx("mbarrier.arrive.remote.if", as_i32(barrier), as_i32(workers.lane % _power(ctas)), arrives)


def expand_mbarrier_wait(expansion: Expansion, op: MbarrierWaitOp) -> None:
    """Emit the wait."""
    emit_ptx("mbarrier.wait", as_i32(_barrier(expansion, op)), expansion.values[op.parity])


def _power(ctas: int) -> int:
    return 1 << (ctas - 1).bit_length()


def _barrier(expansion: Expansion, op: MbarrierArriveOp | MbarrierExpectTxOp | MbarrierWaitOp) -> Word:
    return expansion.barriers[op.barriers].address(Word.of(expansion.values[op.stage]))
