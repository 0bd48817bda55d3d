"""Semaphores for one thread: the instruction, which the first of the threads does."""

from tinyc.codegen.words import Word, as_i32
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.groups import emit_by_first
from tinyc.dialects.gpu.statements import AddressOp, SemaphoreReleaseOp, SemaphoreWaitOp
from tinyc.dialects.gpu.statements.address import address_type
from tinyc.mlir import ir


def expand_semaphore_wait(expansion: Expansion, op: SemaphoreWaitOp) -> None:
    """Emit the loop until the number is there."""
    turn = as_i32(Word.of(expansion.values[op.turn]))
    emit_by_first(expansion, "semaphore.wait", _address(expansion, op), turn)


def expand_semaphore_release(expansion: Expansion, op: SemaphoreReleaseOp) -> None:
    """Emit the addition."""
    emit_by_first(expansion, "red.release", _address(expansion, op), as_i32(1))


def _address(expansion: Expansion, op: SemaphoreReleaseOp | SemaphoreWaitOp) -> ir.Value:
    memory = expansion.elements.buffers[op.workspace]
    return AddressOp(address_type(memory.type), memory, expansion.values[op.number]).place
