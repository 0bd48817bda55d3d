// Tensor maps that a kernel changes: one for each block, made in shared memory, and one that moves, in global memory; and
// one that the host has put there.
#include "hopper.cuh"

// Group g is rows[g] rows of 16 columns from x + starts[g] on: out [g][16][16] gets them, and zeros below.
extern "C" __global__ void tma_groups(const __grid_constant__ TensorMap like, TensorMap* maps, const float* x, const int* rows,
                                      const int* starts, float* out) {
  __shared__ alignas(128) float tile[16][16];
  __shared__ alignas(128) TensorMap own;
  __shared__ alignas(8) unsigned long long full;
  unsigned to = shared_address(tile), at = shared_address(&full), map = shared_address(&own);
  int group = blockIdx.x;
  if (threadIdx.x < 32) {
    ((unsigned*)&own)[threadIdx.x] = ((const unsigned*)&like)[threadIdx.x];
    __syncwarp();
    if (threadIdx.x == 0) {
      asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(map),
                   "l"(__cvta_generic_to_global(x + starts[group])) : "memory");
      asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(map), "r"(rows[group]) : "memory");
      init(at, 1);
      fence_init();
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
                     __cvta_generic_to_global(maps + group)), "r"(map) : "memory");
    if (threadIdx.x == 0) {
      asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(maps + group) : "memory");
      expect(at, sizeof tile);
      load_tile(to, maps + group, 0, 0, at);
    }
  }
  __syncthreads();
  wait(at, 0);
  out[group * 256 + threadIdx.x] = tile[threadIdx.x / 16][threadIdx.x % 16];
}

__device__ TensorMap moving;

// The sum of `count` matrices [16, 16] that follow each other in x, by one map that goes from one to the next.
extern "C" __global__ void tma_moving(const __grid_constant__ TensorMap first, const float* x, float* out, int count) {
  __shared__ alignas(128) float tile[16][16];
  __shared__ alignas(8) unsigned long long full;
  unsigned to = shared_address(tile), at = shared_address(&full);
  if (threadIdx.x == 0) {
    moving = first;
    init(at, 1);
    fence_init();
  }
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("tensormap.replace.tile.global_address.global.b1024.b64 [%0], %1;" ::"l"(__cvta_generic_to_global(&moving)),
                   "l"(__cvta_generic_to_global(x + i * 256)) : "memory");
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
      asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(&moving) : "memory");
      expect(at, sizeof tile);
      load_tile(to, &moving, 0, 0, at);
    }
    wait(at, i & 1);
    sum += tile[threadIdx.x / 16][threadIdx.x % 16];
  }
  out[threadIdx.x] = sum;
}

// Block (i, j) copies tile [16, 16] number i, j of a matrix [20, 40] to out [i][j][16][16], by a map that the host has put in
// global memory.
extern "C" __global__ void tma_pointer(const TensorMap* map, float* out) {
  __shared__ alignas(128) float tile[16][16];
  __shared__ alignas(8) unsigned long long full;
  unsigned to = shared_address(tile), at = shared_address(&full);
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
    asm volatile("fence.proxy.tensormap::generic.acquire.sys [%0], 128;" ::"l"(map) : "memory");
    expect(at, sizeof tile);
    load_tile(to, map, blockIdx.x * 16, blockIdx.y * 16, at);
  }
  __syncthreads();
  wait(at, 0);
  out[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x] = tile[threadIdx.x / 16][threadIdx.x % 16];
}
