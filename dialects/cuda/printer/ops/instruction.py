"""`tgpu.instruction` as CUDA text."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import InstructionOp

CALLED_FUNCTIONS: dict[str, str] = {}


def text(printer: ExpressionPrinter, op: InstructionOp) -> str:
    """The statement."""
    raise NotImplementedError
