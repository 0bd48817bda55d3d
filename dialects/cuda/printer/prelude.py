"""The functions that generated CUDA text is written with, each put into a file that needs it.

They give operators the meaning that MLIR gives them, the same on the device and on the host.
"""

from collections.abc import Iterable

from tinyc.dialects.cuda.printer.idioms import IDIOM_FUNCTIONS
from tinyc.dialects.gpu.statements import SCALAR_OPS, by_op

#: Those that expressions call, by name, in the order in which they stand in a file.
_OF_EXPRESSIONS: dict[str, str] = {
    "wrapping_add": """// Integer arithmetic wraps around, which that of C++ does on unsigned numbers only.
template <typename T>
__host__ __device__ inline T wrapping_add(T a, T b) {
  return T(uint64_t(a) + uint64_t(b));
}""",
    "wrapping_sub": """template <typename T>
__host__ __device__ inline T wrapping_sub(T a, T b) {
  return T(uint64_t(a) - uint64_t(b));
}""",
    "wrapping_mul": """template <typename T>
__host__ __device__ inline T wrapping_mul(T a, T b) {
  return T(uint64_t(a) * uint64_t(b));
}""",
    "multiply_high": """// The upper half of the product of two unsigned 32-bit numbers.
__host__ __device__ inline int32_t multiply_high(int32_t a, int32_t b) {
  return int32_t(uint64_t(uint32_t(a)) * uint32_t(b) >> 32);
}""",
    "floor_div": """// a / b, rounded down.
__host__ __device__ inline int64_t floor_div(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}""",
    "ceil_div": """// a / b, rounded up.
__host__ __device__ inline int64_t ceil_div(int64_t a, int64_t b) {
  return a / b + (a % b != 0 && (a < 0) == (b < 0));
}""",
    "larger": """template <typename T>
__host__ __device__ inline T larger(T a, T b) {
  return a > b ? a : b;
}""",
    "smaller": """template <typename T>
__host__ __device__ inline T smaller(T a, T b) {
  return a < b ? a : b;
}""",
    "smaller_unsigned": """// The smaller position, where one below 0 is above all others.
__host__ __device__ inline int64_t smaller_unsigned(int64_t a, int64_t b) {
  return uint64_t(a) < uint64_t(b) ? a : b;
}""",
    "is_nan": """template <typename T>
__host__ __device__ inline bool is_nan(T x) {
  return x != x;
}""",
    "less_or_greater": """template <typename T>
__host__ __device__ inline bool less_or_greater(T a, T b) {
  return a < b || a > b;
}""",
    "maximum": """// The larger number: NaN if one of them is NaN, and +0 is larger than -0.
template <typename T>
__host__ __device__ inline T maximum(T a, T b) {
  if (a != a || b != b) return a + b;
  return a > b || (a == b && !signbit(a)) ? a : b;
}""",
    "minimum": """// The smaller number: NaN if one of them is NaN, and -0 is smaller than +0.
template <typename T>
__host__ __device__ inline T minimum(T a, T b) {
  if (a != a || b != b) return a + b;
  return a < b || (a == b && signbit(a)) ? a : b;
}""",
    "reciprocal_root": """template <typename T>
__host__ __device__ inline T reciprocal_root(T x) {
  return T(1) / sqrt(x);
}""",
    "bit_cast": """// The same bits as another type.
template <typename To, typename From>
__host__ __device__ inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "types of one size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}""",
}
#: All of them: last those that the scalar level's own ops call.
HELPERS: dict[str, str] = {
    **_OF_EXPRESSIONS,
    **IDIOM_FUNCTIONS,
    **{
        name: text
        for functions in by_op(SCALAR_OPS, "tinyc.dialects.cuda.printer.ops", "CALLED_FUNCTIONS").values()
        for name, text in functions.items()
    },
}


def prelude(names: Iterable[str]) -> str:
    """The texts of the named functions."""
    wanted = set(names)
    return "\n\n".join(text for name, text in HELPERS.items() if name in wanted)


_KERNEL_HEADERS = ("cmath", "cstdint", "cstring")
_MAIN_HEADERS = ("algorithm", "cmath", "cstdint", "cstdio", "cstdlib", "cstring", "random", "vector")
#: Of a `main` with tensor maps.
_MAP_HEADERS = ("type_traits",)


def includes(text: str, with_main: bool) -> str:
    """The includes of a file: CUDA's for the types in its text, and the library's."""
    types = {"CUtensorMap": "cuda.h", "__nv_bfloat16": "cuda_bf16.h", "half": "cuda_fp16.h"}
    cuda = [*(header for name, header in types.items() if name in text), "cuda_runtime.h"]
    library = _MAIN_HEADERS if with_main else _KERNEL_HEADERS
    library = sorted((*library, *_MAP_HEADERS)) if TENSOR_MAP_FUNCTION in text else library
    return "\n".join([*(f"#include <{each}>" for each in cuda), "", *(f"#include <{each}>" for each in library)])


#: What `main` makes tensor maps with.
TENSOR_MAP_FUNCTION = """\
// How copies of boxes find a tensor: `dims` in elements, innermost first, whose elements are neighbours; the distances
// of the others in bytes; the box, whose rows are swizzled in spans of so many bytes in shared memory.
template <typename T>
CUtensorMap tensor_map(const T* tensor, const std::vector<int64_t>& dims, const std::vector<int64_t>& strides,
                       const std::vector<uint32_t>& box, int swizzle) {
  constexpr bool is_bf16 = std::is_same_v<T, __nv_bfloat16>;
  constexpr CUtensorMapDataType type = is_bf16                  ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                       : std::is_same_v<T, half>  ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                       : std::is_same_v<T, float> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                       : sizeof(T) == 4           ? CU_TENSOR_MAP_DATA_TYPE_INT32
                                                                  : CU_TENSOR_MAP_DATA_TYPE_UINT8;
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
  const std::vector<uint64_t> sizes(dims.begin(), dims.end()), distances(strides.begin(), strides.end());
  const std::vector<uint32_t> each(dims.size(), 1);
  CUtensorMap map;
  const CUresult error = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found)(
      &map, type, dims.size(), const_cast<T*>(tensor), sizes.data(), distances.data(), box.data(), each.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE,
      swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
      : swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
      : swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                      : CU_TENSOR_MAP_SWIZZLE_NONE,
      CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (error != CUDA_SUCCESS) {
    fprintf(stderr, "the driver refuses a tensor map: error %d\\n", int(error));
    exit(4);
  }
  return map;
}"""


#: What `main` is written with.
HOST_PRELUDE = """\
#define CHECK_CUDA(call)                                                                              \\
  do {                                                                                                \\
    const cudaError_t error = (call);                                                                 \\
    if (error != cudaSuccess) {                                                                       \\
      fprintf(stderr, "CUDA error at %s:%d: %s\\n", __FILE__, __LINE__, cudaGetErrorString(error));    \\
      exit(4);                                                                                        \\
    }                                                                                                 \\
  } while (0)

// Reads "M=256" into `value`, if that is how `argument` begins.
inline bool read_size(const char* argument, const char* name, int64_t& value) {
  const size_t length = strlen(name);
  if (strncmp(argument, name, length) != 0 || argument[length] != '=') return false;
  char* end = nullptr;
  value = strtoll(argument + length + 1, &end, 10);
  return end != argument + length + 1 && *end == 0;
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "the program needs %s, which does not hold at these sizes\\n", what);
  exit(2);
}

// Numbers of every element type, exactly; a long double holds 64-bit integers too.
template <typename T>
inline long double number(T x) {
  return x;
}
inline long double number(half x) { return __half2float(x); }
inline long double number(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T>
inline void assign(T& to, double x) {
  to = T(x);
}
inline void assign(half& to, double x) { to = __float2half_rn(float(x)); }
inline void assign(__nv_bfloat16& to, double x) { to = __float2bfloat16_rn(float(x)); }

// Uniform in [low, high).
template <typename T>
void fill_floats(std::vector<T>& values, std::mt19937_64& generator, double low, double high) {
  for (T& each : values) assign(each, low + (high - low) * double(generator() >> 11) * 0x1p-53);
}

// Uniform in low … high, both included; `low` where there is nothing in between.
template <typename T>
void fill_integers(std::vector<T>& values, std::mt19937_64& generator, int64_t low, int64_t high) {
  const uint64_t count = high < low ? 1 : uint64_t(high - low) + 1;
  for (T& each : values) each = T(low + int64_t(generator() % count));
}

// A launch of no CTAs is an error; there is nothing to compute.
inline bool has_blocks(dim3 grid) { return grid.x > 0 && grid.y > 0 && grid.z > 0; }

// Whether a kernel has noted an index that is out of range; says which.
inline bool has_noted(const char* kernel, const int64_t* status) {
  if (status[0] == 0) return false;
  fprintf(stderr, "%s: index %lld at [", kernel, (long long)status[1]);
  for (int i = 0; i + 1 < status[0]; ++i) fprintf(stderr, i > 0 ? ", %lld" : "%lld", (long long)status[4 + i]);
  fprintf(stderr, "] is outside axis %lld of extent %lld\\n", (long long)status[2], (long long)status[3]);
  return true;
}

// Memory of the device for `count` elements, of bytes 0xff: NaN, or -1. A compare-and-swap takes whole words of it.
template <typename T>
T* allocate(int64_t count) {
  const size_t size_bytes = (count * sizeof(T) + 3) / 4 * 4;
  T* address = nullptr;
  CHECK_CUDA(cudaMalloc(&address, size_bytes));
  CHECK_CUDA(cudaMemset(address, 0xff, size_bytes));
  return address;
}

template <typename T>
T* to_device(const std::vector<T>& values) {
  T* address = allocate<T>(values.size());
  CHECK_CUDA(cudaMemcpy(address, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return address;
}

template <typename T>
void to_host(const T* address, std::vector<T>& values) {
  CHECK_CUDA(cudaMemcpy(values.data(), address, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
}

// Compares an output, whose elements mean numbers of type `Element`, with what the CPU computed. The largest error
// may be max(base, growth) times the largest magnitude in the output, or times 1 where that is less: `base` stands
// for the element types on the way to the output (0: no float is computed, and it must be equal), and `growth` is
// 2 n u, for n terms of sums that are rounded to a unit roundoff of u. NaN equals NaN.
template <typename Element, typename T>
bool agree(const char* name, const std::vector<T>& actual, const std::vector<T>& expected, double base, double growth,
           double& max_abs_err) {
  double error = 0, magnitude = 1;
  for (size_t i = 0; i < expected.size(); ++i) {
    const long double a = number(Element(actual[i])), e = number(Element(expected[i]));
    if (std::isfinite(e)) magnitude = std::max(magnitude, double(std::fabs(e)));
    if (a == e || (std::isnan(a) && std::isnan(e))) continue;
    error = std::max(error, std::isnan(a) || std::isnan(e) ? double(INFINITY) : double(std::fabs(a - e)));
  }
  max_abs_err = std::max(max_abs_err, error);
  const double tolerance = std::max(base, growth) * magnitude;
  if (error <= tolerance) return true;
  fprintf(stderr, "output %s is off by %g, which is more than %g\\n", name, error, tolerance);
  return false;
}"""
