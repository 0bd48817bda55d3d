"""Semaphores for one thread: the instruction, which the first of the threads does."""

from tinyc.codegen.words import Word, as_i32
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.groups import is_first
from tinyc.dialects.gpu.statements import AddressOp, SemaphoreReleaseOp, SemaphoreWaitOp
from tinyc.dialects.gpu.statements.address import address_type
from tinyc.dialects.gpu.statements.instruction import emit_ptx
from tinyc.mlir import ir


def expand_semaphore_wait(expansion: Expansion, op: SemaphoreWaitOp) -> None:
    """Emit the loop until the number is there."""
    turn = as_i32(Word.of(expansion.values[op.turn]))
    emit_ptx("semaphore.wait", _address(expansion, op), turn, is_first(expansion))


def expand_semaphore_release(expansion: Expansion, op: SemaphoreReleaseOp) -> None:
    """Emit the addition."""
    emit_ptx("red.release.if", _address(expansion, op), as_i32(1), is_first(expansion))


def _address(expansion: Expansion, op: SemaphoreReleaseOp | SemaphoreWaitOp) -> ir.Value:
    memory = expansion.elements.buffers[op.workspace]
    return AddressOp(address_type(memory.type), memory, expansion.values[op.number]).place
