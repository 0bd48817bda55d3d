"""`tgpu.report_index` as CUDA text, on the device and on the host."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import ReportIndexOp

CALLED_FUNCTIONS = {
    "report_index": """// Note an index that is out of range, what it indexes, and where it stands, unless one is noted.
template <typename... At>
__device__ inline void report_index(int64_t* status, int64_t index, int64_t axis, int64_t extent, At... at) {
  const int64_t noted[] = {1 + int64_t(sizeof...(at)), index, axis, extent, int64_t(at)...};
  auto* claim = reinterpret_cast<unsigned long long*>(status);
  if (atomicCAS(claim, 0ull, (unsigned long long)(noted[0])) != 0) return;
  for (int i = 1; i < int(sizeof(noted) / sizeof(noted[0])); ++i) status[i] = noted[i];
}""",
    "note_index": """// The same on the host.
template <typename... At>
static void note_index(int64_t* status, int64_t index, int64_t axis, int64_t extent, At... at) {
  const int64_t noted[] = {1 + int64_t(sizeof...(at)), index, axis, extent, int64_t(at)...};
  if (status[0] == 0) std::copy(std::begin(noted), std::end(noted), status);
}""",
}


def text(printer: ExpressionPrinter, op: ReportIndexOp) -> str:
    """The statement."""
    name = printer.helper("note_index" if printer.on_host else "report_index")
    index, extent, *at = (printer.operand(each).text for each in (op.index, op.extent, *op.at))
    return f"{name}({', '.join([printer.buffer(op.status), index, str(op.axis.value), extent, *at])});"
