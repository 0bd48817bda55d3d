"""`tgpu.load_vector` as CUDA text."""

from tinyc.dialects.cuda.printer.ops.store_vector import WIDE_STRUCT
from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import LoadVectorOp

CALLED_FUNCTIONS = {
    "wide": WIDE_STRUCT,
    "load_wide": """// Elements from a place on, in one access.
template <int N, typename T>
__device__ inline wide<T, N> load_wide(const T* place) {
  return *reinterpret_cast<const wide<T, N>*>(place);
}""",
}


def text(printer: ExpressionPrinter, op: LoadVectorOp) -> str:
    """The statement, which names all elements at once."""
    printer.helper("wide")
    name, place = printer.name_of_parts(op.results), printer.operand(op.index).text
    return (
        f"const auto {name} = {printer.helper('load_wide')}<{len(op.results)}>(&{printer.buffer(op.buffer)}[{place}]);"
    )
