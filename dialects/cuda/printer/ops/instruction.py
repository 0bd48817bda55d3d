"""`tgpu.instruction` as CUDA text: a call of a function that is called like it.

Values that it updates, and several results, go by where they begin in an array; so do the registers of a fragment.
"""

from collections.abc import Iterator

from tinyc.dialects.cuda.printer.instructions import takes_pointers
from tinyc.dialects.cuda.printer.text import CppText, ExpressionPrinter, is_pointer
from tinyc.dialects.gpu.statements import InstructionOp
from tinyc.mlir import ir

CALLED_FUNCTIONS: dict[str, str] = {}


def expression(printer: ExpressionPrinter, op: InstructionOp) -> CppText:
    """The call of one that only computes its result."""
    return CppText(f"{printer.instruction(op.entry.name)}({', '.join(_operands(printer, op))})")


def text(printer: ExpressionPrinter, op: InstructionOp) -> str:
    """The statement, which declares what the instruction gives, unless that is held in an array already."""
    operands = list(_operands(printer, op))
    name = printer.instruction(op.entry.name)
    if op.entry.updated:
        operands.insert(0, printer.updated(op).address)
    elif len(op.results) > 1:
        operands.insert(0, printer.given(op).address)
    call = f"{name}({', '.join(operands)})"
    is_one = len(op.results) == 1 and not op.entry.updated
    return f"const {printer.type_of(op.results[0])} {printer.name(op.results[0])} = {call};" if is_one else f"{call};"


def _operands(printer: ExpressionPrinter, op: InstructionOp) -> Iterator[str]:
    """Yield the arguments of the call."""
    rest = op.in_order
    for count in op.entry.fragments:
        yield printer.fragment(rest[:count])
        rest = rest[count:]
    for each in rest:
        yield _operand(printer, op, each)


def _operand(printer: ExpressionPrinter, op: InstructionOp, value: ir.Value) -> str:
    given = printer.operand(value).text
    if str(value.type) != "i64" or not takes_pointers(op.entry) or is_pointer(value):
        return given
    return f"reinterpret_cast<void*>({given})"
