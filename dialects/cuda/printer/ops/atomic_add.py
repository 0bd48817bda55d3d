"""`tgpu.atomic_add` as CUDA text."""

from tinyc.dialects.cuda.printer.text import ExpressionPrinter
from tinyc.dialects.gpu.statements import AtomicAddOp

CALLED_FUNCTIONS = {
    "atomic_add": """\
// Adds to an element of a buffer in one step. Where there is no such instruction, the word around the
// element is exchanged until no other thread has changed it in between.
__device__ inline void atomic_add(float* place, float value) { atomicAdd(place, value); }
__device__ inline void atomic_add(double* place, double value) { atomicAdd(place, value); }
__device__ inline void atomic_add(half* place, half value) { atomicAdd(place, value); }
__device__ inline void atomic_add(__nv_bfloat16* place, __nv_bfloat16 value) { atomicAdd(place, value); }
__device__ inline void atomic_add(int32_t* place, int32_t value) { atomicAdd(place, value); }
__device__ inline void atomic_add(int64_t* place, int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
}
template <typename T>
__device__ inline void atomic_add(T* place, T value) {
  const size_t offset = reinterpret_cast<size_t>(place) % 4;
  unsigned* word = reinterpret_cast<unsigned*>(reinterpret_cast<char*>(place) - offset);
  const unsigned shift = unsigned(8 * offset), mask = ((1u << 8 * sizeof(T)) - 1u) << shift;
  unsigned seen = *word, expected;
  do {
    expected = seen;
    const unsigned sum = ((seen >> shift) + unsigned(value)) << shift;
    seen = atomicCAS(word, expected, (expected & ~mask) | (sum & mask));
  } while (seen != expected);
}""",
}


def text(printer: ExpressionPrinter, op: AtomicAddOp) -> str:
    """The statement."""
    place = f"&{printer.buffer(op.buffer)}[{printer.operand(op.index).text}]"
    return f"{printer.helper('atomic_add')}({place}, {printer.operand(op.value).text});"
