"""`tgpu.store_vector` as CUDA text."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import StoreVectorOp

#: What is loaded and stored.
WIDE_STRUCT = """// Neighbouring elements, aligned to what they take together: one access moves them.
template <typename T, int N>
struct alignas(N * sizeof(T)) wide {
  T at[N];
};"""

CALLED_FUNCTIONS = {
    "wide": WIDE_STRUCT,
    "store_wide": """// Elements to a place and those behind it, in one access.
template <typename T, typename... Elements>
__device__ inline void store_wide(T* place, Elements... elements) {
  using Wide = wide<T, int(sizeof...(elements))>;
  *reinterpret_cast<Wide*>(place) = Wide{{elements...}};
}""",
}


def text(printer: ExpressionPrinter, op: StoreVectorOp) -> str:
    """The statement."""
    printer.helper("wide")
    place = f"&{printer.buffer(op.buffer)}[{printer.operand(op.index).text}]"
    elements = ", ".join(printer.operand(each).text for each in op.elements)
    return f"{printer.helper('store_wide')}({place}, {elements});"
