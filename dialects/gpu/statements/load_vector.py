"""`tgpu.load_vector`: of the scalar level, neighbouring elements in one access."""

from collections.abc import Sequence
from typing import Any

from tinyc.dialects.gpu.dialect import TgpuOp
from tinyc.dialects.gpu.statements.rules import require_indices, require_vector
from tinyc.mlir import ext


class LoadVectorOp(TgpuOp, name="load_vector"):
    """Load the elements of a buffer from `index` on, one for each result, in one access.

    `index` is a multiple of how many they are, and the buffer is aligned to what they take together.
    """

    elements: Sequence[ext.Result[Any]]
    buffer: ext.Operand[Any]
    index: ext.Operand[Any]

    def check(self) -> None:
        """The elements are the buffer's, and one access of the hardware."""
        require_indices(self, "index")
        require_vector(self.buffer.type, [each.type for each in self.results])
