// Tensor copies (TMA): tiles with bounds, a pipeline, multicast, swizzled tiles, reduction, three dimensions, im2col.
#include "hopper.cuh"

// out = x * factor in tiles of 16 columns and 8 rows; what is outside reads as zero and is not stored.
extern "C" __global__ void tma_scale(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap out, float factor) {
  __shared__ alignas(128) float tile[8][16];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned to = shared_address(tile), at = shared_address(&barrier);
  int column = blockIdx.x * 16, row = blockIdx.y * 8;
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
    expect(at, sizeof tile);
    load_tile(to, &x, column, row, at);
  }
  __syncthreads();
  wait(at, 0);
  tile[threadIdx.x / 16][threadIdx.x % 16] *= factor;
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(column),
                 "r"(row), "r"(to) : "memory");
    commit_copies();
    wait_copies();
  }
}

// The sum of the columns of x [tiles * 8, 32]: warp 0 fills a ring of three tiles, warp 1 adds them up.
extern "C" __global__ void tma_ring(const __grid_constant__ TensorMap x, float* out, int tiles) {
  __shared__ alignas(128) float tile[3][8][32];
  __shared__ alignas(8) unsigned long long full[3], empty[3];
  if (threadIdx.x == 0) {
    for (int k = 0; k < 3; ++k) {
      init(shared_address(&full[k]), 1);
      init(shared_address(&empty[k]), 32);
    }
    fence_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll 1
    for (int i = 0; i < tiles; ++i) {
      int k = i % 3;
      wait(shared_address(&empty[k]), i / 3 & 1 ^ 1);
      expect(shared_address(&full[k]), 1024);
      load_tile(shared_address(tile[k]), &x, 0, i * 8, shared_address(&full[k]));
    }
  } else if (threadIdx.x >= 32) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < tiles; ++i) {
      int k = i % 3;
      wait(shared_address(&full[k]), i / 3 & 1);
      for (int row = 0; row < 8; ++row) sum += tile[k][row][threadIdx.x - 32];
      arrive(shared_address(&empty[k]));
    }
    out[threadIdx.x - 32] = sum;
  }
}

// Both blocks get the whole tile [8, 16]; each loads one half of its rows for both.
extern "C" __global__ void __cluster_dims__(2, 1, 1) tma_multicast(const __grid_constant__ TensorMap x, int* out) {
  __shared__ alignas(128) int tile[8][16];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned at = shared_address(&barrier), rank = cluster_rank();
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
    expect(at, sizeof tile);
  }
  cluster_sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(tile[rank * 4])),
        "l"(&x), "r"(0), "r"((int)rank * 4), "r"(at), "h"((short)3) : "memory");
  wait(at, 0);
  out[blockIdx.x * 128 + threadIdx.x] = tile[threadIdx.x / 16][threadIdx.x % 16] + (int)rank;
  cluster_sync();
}

// A tile of 64 f16 columns (128 bytes) and 16 rows, swizzled by 128 bytes, read back in logical order.
extern "C" __global__ void tma_swizzled(const __grid_constant__ TensorMap x, unsigned short* out) {
  __shared__ alignas(1024) unsigned char tile[2048];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned at = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
    expect(at, sizeof tile);
    load_tile(shared_address(tile), &x, 0, 0, at);
  }
  __syncthreads();
  wait(at, 0);
  for (int i = threadIdx.x; i < 1024; i += blockDim.x) {
    int row = i / 64, byte = i % 64 * 2, chunk = byte / 16 ^ row % 8;
    out[i] = *(unsigned short*)(tile + row * 128 + chunk * 16 + byte % 16);
  }
}

extern "C" __global__ void tma_add(const float* x, const __grid_constant__ TensorMap total) {
  __shared__ alignas(128) float tile[8][16];
  tile[threadIdx.x / 16][threadIdx.x % 16] = x[blockIdx.x * 128 + threadIdx.x];
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&total),
                 "r"(0), "r"(0), "r"(shared_address(tile)) : "memory");
    commit_copies();
    wait_copies();
  }
}

// A box of 8 x 4 x 2 elements at (c0, c1, c2), which may lie partly outside.
extern "C" __global__ void tma_3d(const __grid_constant__ TensorMap x, float* out, int c0, int c1, int c2) {
  __shared__ alignas(128) float tile[64];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned at = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
    expect(at, sizeof tile);
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
            shared_address(tile)),
        "l"(&x), "r"(c0), "r"(c1), "r"(c2), "r"(at) : "memory");
  }
  __syncthreads();
  wait(at, 0);
  out[threadIdx.x] = tile[threadIdx.x];
}

// The nine shifted images of a 3 x 3 convolution with padding 1: out [9, 64, 8]; x [n, h, w, 8], 64 = n h w.
extern "C" __global__ void tma_im2col(const __grid_constant__ TensorMap x, float* out) {
  __shared__ alignas(128) float column[64][8];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned at = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
  }
  __syncthreads();
#pragma unroll 1
  for (int tap = 0; tap < 9; ++tap) {
    if (threadIdx.x == 0) {
      expect(at, sizeof column);
      asm volatile(
          "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
          "[%6], {%7, %8};" ::"r"(shared_address(column)),
          "l"(&x), "r"(0), "r"(-1), "r"(-1), "r"(0), "r"(at), "h"((short)(tap % 3)), "h"((short)(tap / 3)) : "memory");
    }
    wait(at, tap & 1);
    for (int k = threadIdx.x; k < 512; k += blockDim.x) out[tap * 512 + k] = column[k / 8][k % 8];
    __syncthreads();
  }
}
