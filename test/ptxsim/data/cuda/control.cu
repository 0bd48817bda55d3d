// Control flow: divergent loops, a jump table, calls of functions that are not inlined, arrays in local memory.

extern "C" __global__ void collatz(const unsigned* x, unsigned* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned value = x[i], count = 0;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value / 2;
    ++count;
  }
  steps[i] = count;
}

extern "C" __global__ void jump_table(const int* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = x[i], r = v;
  asm volatile(
      "{\n\t"
      "targets: .branchtargets case0, case1, case2, case3;\n\t"
      ".reg .pred %%above;\n\t"
      "setp.gt.u32 %%above, %1, 3;\n\t"
      "@%%above bra other;\n\t"
      "brx.idx %1, targets;\n"
      "case0: add.s32 %0, %2, 5; bra.uni done;\n"
      "case1: mul.lo.s32 %0, %2, 7; bra.uni done;\n"
      "case2: shl.b32 %0, %2, 3;\n"  // falls through
      "case3: xor.b32 %0, %0, 255; bra.uni done;\n"
      "other: mov.b32 %0, -1;\n"
      "done:\n\t"
      "}"
      : "+r"(r) : "r"(v), "r"(i));
  out[i] = r;
}

extern "C" __global__ void dense_switch(const int* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r = 1;
  switch (x[i]) {
    case 0: r = i + 5; break;
    case 1: r = i * 7; break;
    case 2: r = i << 3;  // falls through
    case 3: r ^= 255; break;
    case 4: for (int k = 0; k < i; ++k) r = r * 3 + k; break;
    case 5: out[i] = 4; return;
    case 6: r = __popc(i); break;
    case 7: r = i / 3; break;
    default: r = -1;
  }
  out[i] = r;
}

struct Pair {
  int sum;
  float mean;
  short count;
};

__device__ __noinline__ Pair summarise(const int* values, int count) {
  Pair result = {0, 0.0f, (short)count};
  for (int k = 0; k < count; ++k) result.sum += values[k];
  result.mean = (float)result.sum / (float)count;
  return result;
}

__device__ __noinline__ float weigh(Pair pair, float weight, long long offset) {
  return pair.mean * weight + (float)(offset + pair.count);
}

extern "C" __global__ void calls(const int* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pair pair = summarise(x + i, i % 4 + 1);  // divergent trip counts inside the callee
  out[i] = i % 2 ? weigh(pair, 0.5f, i) : (float)pair.sum;
}

extern "C" __global__ void local_sort(const int* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int values[8];
  for (int k = 0; k < 8; ++k) values[k] = x[i * 8 + k];
#pragma unroll 1
  for (int k = 1; k < 8; ++k) {
    int value = values[k], at = k;
    for (; at > 0 && values[at - 1] > value; --at) values[at] = values[at - 1];
    values[at] = value;
  }
  for (int k = 0; k < 8; ++k) out[i * 8 + k] = values[k];
}
