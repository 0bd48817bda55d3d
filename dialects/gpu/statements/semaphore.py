"""Semaphores: how CTAs take turns. They are i32 numbers in a workspace, 0 before the kernel begins."""

from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.rules import require_indices
from tinyc.dialects.region import ops as region
from tinyc.mlir import ext
from tinyc.mlir.verifying import Malformed


class SemaphoreWaitOp(TgpuOp, name="semaphore_wait"):
    """Wait, one of the threads, until semaphore `number` of a workspace is at `turn`; a barrier tells the others.

    Who waits then sees what those did before who have released it.
    """

    workspace: ext.Operand[Any]
    number: ext.Operand[Any]
    turn: ext.Operand[Any]

    def check(self) -> None:
        """The workspace is of semaphores."""
        _require_semaphores(self)
        require_indices(self, "turn")


class SemaphoreReleaseOp(TgpuOp, name="semaphore_release"):
    """Let the next turn of a semaphore begin: it sees what all threads did before the barrier in front of this."""

    workspace: ext.Operand[Any]
    number: ext.Operand[Any]

    def check(self) -> None:
        """The workspace is of semaphores."""
        _require_semaphores(self)


def _require_semaphores(op: SemaphoreWaitOp | SemaphoreReleaseOp) -> None:
    require_indices(op, "number")
    kind = op.workspace.type
    held = region.held_tensor(kind) if isinstance(kind, region.MemRefType) else None
    if held is None or held.rank != 1 or str(held.element) != "i32":
        raise Malformed(f"takes semaphores in {kind}; they are a !region.memref of one axis of i32")
