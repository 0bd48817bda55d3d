// Matrix products of a warpgroup (wgmma) in different operand layouts and element types. Every product is a @ b^T in
// which a row of 128 bytes or less of each operand is one row of a tile.
#include <cuda_fp16.h>

#include "hopper.cuh"

#define FENCE asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")

enum Swizzle { kNone = 0, k128 = 1, k64 = 2, k32 = 3 };

DEVICE unsigned long long descriptor(unsigned address, unsigned leading, unsigned stride, Swizzle swizzle) {
  return (unsigned long long)(address >> 4 & 0x3fff) | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | (unsigned long long)swizzle << 62;
}
// The place of a byte whose address is logical in tiles with this swizzle: 16-byte chunks are permuted.
DEVICE unsigned swizzled(unsigned byte, Swizzle swizzle) {
  unsigned bits = swizzle == k128 ? 7 : swizzle == k64 ? 3 : swizzle == k32 ? 1 : 0;
  return byte ^ (byte >> 7 & bits) << 4;
}

DEVICE void product_n32(float (&d)[16], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, "
      "%14, %15}, %16, %17, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]),
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
      : "l"(a), "l"(b) : "memory");
}

// out [64, 32] = a [64, 64 blocks] @ b [32, 64 blocks]^T, f16: both operands come by TMA, swizzled by 128 bytes.
extern "C" __global__ void wgmma_tma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b, float* out,
                                     int blocks) {
  __shared__ alignas(1024) unsigned char tile_a[2][64 * 128];
  __shared__ alignas(1024) unsigned char tile_b[2][32 * 128];
  __shared__ alignas(8) unsigned long long full[2];
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k) init(shared_address(&full[k]), 1);
    fence_init();
  }
  __syncthreads();
  float d[16] = {};
#pragma unroll 1
  for (int block = -1; block < blocks; ++block) {
    if (threadIdx.x == 0 && block + 1 < blocks) {
      int k = block + 1 & 1;
      unsigned at = shared_address(&full[k]);
      expect(at, 96 * 128);
      load_tile(shared_address(tile_a[k]), &a, (block + 1) * 64, 0, at);
      load_tile(shared_address(tile_b[k]), &b, (block + 1) * 64, 0, at);
    }
    if (block < 0) continue;
    int k = block & 1;
    wait(shared_address(&full[k]), block / 2 & 1);
    FENCE;
    for (int step = 0; step < 4; ++step)
      product_n32(d, descriptor(shared_address(tile_a[k]) + step * 32, 16, 1024, k128),
                  descriptor(shared_address(tile_b[k]) + step * 32, 16, 1024, k128));
    COMMIT;
    WAIT(0);
    __syncthreads();  // the other stage, too, is free now
  }
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int e = 0; e < 16; ++e) out[(row + e / 2 % 2 * 8) * 32 + column + e / 4 * 8 + e % 2] = d[e];
}

// out [64, 16] = a @ b: a [64, 16], bf16, from registers; b [16, 16] with n contiguous, in shared memory, not swizzled.
extern "C" __global__ void wgmma_registers(const unsigned* a, const unsigned short* b, float* out) {
  __shared__ alignas(128) unsigned short tile[256];
  for (int i = threadIdx.x; i < 256; i += 128) {  // core matrices of 8 (k) rows of 8 (n): the next 8 k, then the next 8 n
    int k = i / 16, n = i % 16;
    tile[n / 8 * 128 + k / 8 * 64 + k % 8 * 8 + n % 8] = b[i];
  }
  fence_proxy();
  __syncthreads();
  int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, pair = threadIdx.x % 4;
  unsigned fragment[4];
  for (int e = 0; e < 4; ++e) fragment[e] = a[(row + e % 2 * 8) * 8 + pair + e / 2 * 4];
  float d[8];
  FENCE;
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, %12, 0, "
      "1, -1, 1;"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]), "=f"(d[4]), "=f"(d[5]), "=f"(d[6]), "=f"(d[7])
      : "r"(fragment[0]), "r"(fragment[1]), "r"(fragment[2]), "r"(fragment[3]),
        "l"(descriptor(shared_address(tile), 128, 256, kNone)) : "memory");
  COMMIT;
  WAIT(0);
  for (int e = 0; e < 8; ++e) out[(row + e / 2 % 2 * 8) * 16 + pair * 2 + e / 4 * 8 + e % 2] = d[e];
}

// out [64, 8] = a [64, 32 bytes] @ b [8, 32 bytes]^T. Without swizzle a core matrix is 8 rows of 16 bytes; the second half
// of the rows comes 128 bytes after the first. With one of 32 bytes 8 rows are 256 bytes.
template <Swizzle swizzle>
DEVICE void fill(unsigned char* to, const unsigned char* from, int rows) {
#pragma unroll 1
  for (int i = threadIdx.x; i < rows * 32; i += 128) {
    int row = i / 32, byte = i % 32;
    unsigned place = swizzle == kNone ? row / 8 * 256 + byte / 16 * 128 + row % 8 * 16 + byte % 16 : swizzled(i, swizzle);
    to[place] = from[i];
  }
}
#define PRODUCT_N8(name, shape, c_type, constraint, swizzle, leading, flags)                                           \
  extern "C" __global__ void name(const unsigned char* a, const unsigned char* b, c_type* out) {                       \
    __shared__ alignas(256) unsigned char tile_a[64 * 32], tile_b[8 * 32];                                             \
    fill<swizzle>(tile_a, a, 64);                                                                                      \
    fill<swizzle>(tile_b, b, 8);                                                                                       \
    fence_proxy();                                                                                                     \
    __syncthreads();                                                                                                   \
    c_type d[4] = {1, 2, 3, 4};                                                                                        \
    asm volatile("wgmma.fence.sync.aligned;\n\twgmma.mma_async.sync.aligned." shape                                    \
                 " {%0, %1, %2, %3}, %4, %5, 1" flags ";"                                                              \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])              \
                 : "l"(descriptor(shared_address(tile_a), leading, 256, swizzle)),                                     \
                   "l"(descriptor(shared_address(tile_b), leading, 256, swizzle)) : "memory");                         \
    COMMIT;                                                                                                            \
    WAIT(0);                                                                                                           \
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4;                                                            \
    for (int e = 0; e < 4; ++e) out[(row + e / 2 * 8) * 8 + threadIdx.x % 4 * 2 + e % 2] = d[e];                       \
  }
PRODUCT_N8(wgmma_s8, "m64n8k32.s32.s8.s8", int, "r", kNone, 128, "")
PRODUCT_N8(wgmma_e4m3, "m64n8k32.f32.e4m3.e4m3", float, "f", k32, 16, ", 1, 1")
PRODUCT_N8(wgmma_e5m2, "m64n8k32.f32.e5m2.e5m2", float, "f", kNone, 128, ", 1, 1")
PRODUCT_N8(wgmma_tf32, "m64n8k8.f32.tf32.tf32", float, "f", k32, 16, ", -1, 1")
