"""`tgpu.map_address` as CUDA text."""

from tinyc.dialects.cuda.printer.text import CppText, ExpressionPrinter
from tinyc.dialects.gpu.statements import MapAddressOp

CALLED_FUNCTIONS: dict[str, str] = {}


def expression(printer: ExpressionPrinter, op: MapAddressOp) -> CppText:
    """The address of the parameter that the map is."""
    return CppText(f"&{printer.buffer(op.map)}")
