"""`tgpu.instruction` as CUDA text: not written yet."""

from tinyc.diagnostics import TinycError
from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import InstructionOp
from tinyc.mlir.locations import where

CALLED_FUNCTIONS: dict[str, str] = {}


def text(printer: ExpressionPrinter, op: InstructionOp) -> str:
    """Refuse it.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    message = "CUDA text of kernels on tensor cores cannot be printed yet; print their PTX, --nvvm-to-ptx"
    raise TinycError("NoGpuKernel", message, where(op.location))
