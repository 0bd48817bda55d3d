"""`tgpu.map_address` as CUDA text."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import MapAddressOp

CALLED_FUNCTIONS: dict[str, str] = {}


def text(printer: ExpressionPrinter, op: MapAddressOp) -> str:
    """The statement."""
    raise NotImplementedError
