"""`tgpu.address` as CUDA text."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import AddressOp

CALLED_FUNCTIONS: dict[str, str] = {}


def text(printer: ExpressionPrinter, op: AddressOp) -> str:
    """The statement."""
    raise NotImplementedError
