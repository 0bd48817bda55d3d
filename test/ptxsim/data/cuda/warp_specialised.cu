// A GEMM of three warpgroups: one loads tiles by TMA, two multiply 64 rows each; registers move between them.
#include <cuda_fp16.h>

#include "hopper.cuh"

DEVICE void product(float (&d)[8], unsigned long long a, unsigned long long b, int accumulate) {
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %10, 0;\n\t"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p, 1, 1, 0, 0;\n\t}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "l"(a), "l"(b), "r"(accumulate) : "memory");
}
DEVICE unsigned long long descriptor(unsigned address) {  // rows of 128 bytes, swizzled; 1024 bytes between 8 rows
  return (unsigned long long)(address >> 4 & 0x3fff) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

// c [m, n], f16 = a [m, k] @ b [n, k]^T; a block makes 128 x 16, and stores it by TMA.
extern "C" __global__ void __launch_bounds__(384, 1)
    specialised_gemm(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                     const __grid_constant__ TensorMap c, int blocks) {
  extern __shared__ __align__(1024) unsigned char stages[];  // 2 x (128 + 16) rows of 128 bytes, c, barriers
  unsigned base = shared_address(stages), tile_c = base + 2 * 144 * 128, full = tile_c + 128 * 32, empty = full + 16;
  int group = threadIdx.x / 128, row = blockIdx.y * 128, column = blockIdx.x * 16;
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k) {
      init(full + k * 8, 1);
      init(empty + k * 8, 8);
    }
    fence_init();
  }
  __syncthreads();
  if (group == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
#pragma unroll 1
      for (int block = 0; block < blocks; ++block) {
        int k = block & 1;
        wait(empty + k * 8, block / 2 & 1 ^ 1);
        expect(full + k * 8, 144 * 128);
        load_tile(base + k * 144 * 128, &a, block * 64, row, full + k * 8);
        load_tile(base + k * 144 * 128 + 128 * 128, &b, block * 64, column, full + k * 8);
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[8] = {};
#pragma unroll 1
    for (int block = 0; block < blocks; ++block) {
      int k = block & 1;
      wait(full + k * 8, block / 2 & 1);
      unsigned from = base + k * 144 * 128;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
      for (int step = 0; step < 4; ++step)
        product(d, descriptor(from + (group - 1) * 64 * 128 + step * 32), descriptor(from + 128 * 128 + step * 32),
                block > 0 || step > 0);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (threadIdx.x % 32 == 0) arrive(empty + k * 8);
    }
    int lane = threadIdx.x % 32, at = (group - 1) * 64 + threadIdx.x / 32 % 4 * 16;
    unsigned packed[4];
    for (int e = 0; e < 4; ++e) {
      __half2 pair = __floats2half2_rn(d[e * 2], d[e * 2 + 1]);
      packed[e] = *(unsigned*)&pair;
    }
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     tile_c + (at + lane % 16) * 32 + lane / 16 * 16),
                 "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3]) : "memory");
    fence_proxy();
    asm volatile("bar.sync 1, 256;" ::: "memory");
    if (threadIdx.x == 128) {
      asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&c), "r"(column),
                   "r"(row), "r"(tile_c) : "memory");
      commit_copies();
      wait_copies();
    }
  }
}
