"""What a thread knows of itself, and what the threads of a warp tell each other, as CUDA C++ expressions."""

from tinyc.dialects.cuda.printer.text import CppText, ExpressionPrinter, call
from tinyc.dialects.gpu.kernel import Position, axis_of, shuffle_mode
from tinyc.mlir import gpu

_DIMENSIONS = {
    gpu.ThreadIdOp: "threadIdx",
    gpu.BlockIdOp: "blockIdx",
    gpu.GridDimOp: "gridDim",
    gpu.BlockDimOp: "blockDim",
}


def position_text(op: Position) -> CppText:
    """A thread's or a CTA's number, or how many there are."""
    return CppText(f"{_DIMENSIONS[type(op)]}.{axis_of(op)}")


def shuffle_text(printer: ExpressionPrinter, op: gpu.ShuffleOp) -> CppText:
    """A value of another lane, which all lanes of the warp exchange."""
    mode = shuffle_mode(op)
    name = "__shfl_sync" if mode == "idx" else f"__shfl_{mode}_sync"
    return call(name, CppText("0xffffffffu"), printer.operand(op.value), printer.operand(op.offset))
