"""`tgpu.report_index` as CUDA text, on the device and on the host."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import ReportIndexOp

CALLED_FUNCTIONS = {
    "report_index": """// Note an index that is out of range, unless another one is noted already.
__device__ inline void report_index(int64_t* status, int64_t index) {
  if (atomicCAS(reinterpret_cast<unsigned long long*>(status), 0ull, 1ull) == 0) status[1] = index;
}""",
    "note_index": """// The same on the host.
static void note_index(int64_t* status, int64_t index) {
  if (status[0] == 0) status[1] = index;
  status[0] = 1;
}""",
}


def text(printer: ExpressionPrinter, op: ReportIndexOp) -> str:
    """The statement."""
    name = printer.helper("note_index" if printer.on_host else "report_index")
    return f"{name}({printer.buffer(op.status)}, {printer.operand(op.position).text});"
