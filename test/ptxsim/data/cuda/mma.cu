// Matrix products of a warp: ldmatrix and mma.sync in a GEMM of any size, and each shape by itself.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}
__device__ __forceinline__ void copy16(void* to, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(valid ? 16 : 0)
               : "memory");
}

// c = a @ b: a [m, k], b [k, n], f16; c [m, n], f32; k and n multiples of 8. A block of 4 warps makes 64 x 64.
extern "C" __global__ void gemm_f16(const __half* a, const __half* b, float* c, int m, int n, int k) {
  __shared__ alignas(16) __half tile_a[2][64][40], tile_b[2][32][72];
  int row = blockIdx.y * 64, column = blockIdx.x * 64, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  auto load = [&](int stage, int depth) {
    for (int chunk = threadIdx.x; chunk < 256; chunk += 128) {
      int i = chunk / 4, j = chunk % 4 * 8;
      bool valid = row + i < m && depth + j < k;
      copy16(&tile_a[stage][i][j], valid ? a + (row + i) * k + depth + j : a, valid);
      i = chunk / 8, j = chunk % 8 * 8;
      valid = depth + i < k && column + j < n;
      copy16(&tile_b[stage][i][j], valid ? b + (depth + i) * n + column + j : b, valid);
    }
  };
  float sum[2][4][4] = {};
  load(0, 0);
  asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
  for (int depth = 0, stage = 0; depth < k; depth += 32, stage ^= 1) {
    if (depth + 32 < k) load(stage ^ 1, depth + 32);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    for (int step = 0; step < 32; step += 16) {
      unsigned fa[2][4], fb[2][4];
      for (int i = 0; i < 2; ++i) {
        unsigned from = shared_address(&tile_a[stage][warp / 2 * 32 + i * 16 + lane % 16][step + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3]) : "r"(from) : "memory");
        from = shared_address(&tile_b[stage][step + lane % 16][warp % 2 * 32 + i * 16 + lane / 16 * 8]);
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(fb[i][0]), "=r"(fb[i][1]), "=r"(fb[i][2]), "=r"(fb[i][3]) : "r"(from) : "memory");
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
          asm volatile(
              "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
              "{%0, %1, %2, %3};"
              : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
              : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j / 2][j % 2 * 2]),
                "r"(fb[j / 2][j % 2 * 2 + 1]));
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j)
      for (int e = 0; e < 4; ++e) {
        int y = row + warp / 2 * 32 + i * 16 + lane / 4 + e / 2 * 8;
        int x = column + warp % 2 * 32 + j * 8 + lane % 4 * 2 + e % 2;
        if (y < m && x < n) c[y * n + x] = sum[i][j][e];
      }
}

// One warp, one product d = a @ b^T + 1: a [16, k] and b [8, k] row-major, in 32-bit words; d [16, 8].
#define LANES int group = threadIdx.x / 4, pair = threadIdx.x % 4
#define STORE(d) for (int e = 0; e < 4; ++e) out[(group + e / 2 * 8) * 8 + pair * 2 + e % 2] = d[e]
#define PRODUCT_4_2(name, shape, c_type, constraint) \
  extern "C" __global__ void name(const unsigned* a, const unsigned* b, c_type* out) {                                 \
    LANES;                                                                                                             \
    c_type d[4] = {1, 1, 1, 1};                                                                                        \
    asm volatile("mma.sync.aligned." shape " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
                 : "+" constraint(d[0]), "+" constraint(d[1]), "+" constraint(d[2]), "+" constraint(d[3])              \
                 : "r"(a[group * 8 + pair]), "r"(a[(group + 8) * 8 + pair]), "r"(a[group * 8 + pair + 4]),              \
                   "r"(a[(group + 8) * 8 + pair + 4]), "r"(b[group * 8 + pair]), "r"(b[group * 8 + pair + 4]));         \
    STORE(d);                                                                                                          \
  }
PRODUCT_4_2(mma_bf16_k16, "m16n8k16.row.col.f32.bf16.bf16.f32", float, "f")
PRODUCT_4_2(mma_tf32_k8, "m16n8k8.row.col.f32.tf32.tf32.f32", float, "f")
PRODUCT_4_2(mma_s8_k32, "m16n8k32.row.col.s32.s8.s8.s32", int, "r")
PRODUCT_4_2(mma_u8_s8_k32, "m16n8k32.row.col.satfinite.s32.u8.s8.s32", int, "r")

extern "C" __global__ void mma_f16_k8(const unsigned* a, const unsigned* b, float* out) {
  LANES;
  float d[4] = {1, 1, 1, 1};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[group * 4 + pair]), "r"(a[(group + 8) * 4 + pair]), "r"(b[group * 4 + pair]));
  STORE(d);
}

extern "C" __global__ void mma_f16_into_f16(const unsigned* a, const unsigned* b, unsigned* out) {
  LANES;
  unsigned d[2] = {0x3c003c00u, 0x3c003c00u};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(a[group * 8 + pair]), "r"(a[(group + 8) * 8 + pair]), "r"(a[group * 8 + pair + 4]),
                 "r"(a[(group + 8) * 8 + pair + 4]), "r"(b[group * 8 + pair]), "r"(b[group * 8 + pair + 4]));
  out[group * 4 + pair] = d[0];
  out[(group + 8) * 4 + pair] = d[1];
}
