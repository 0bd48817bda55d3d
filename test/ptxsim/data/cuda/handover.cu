// Data that goes from threads to threads by ways that are easily got wrong: fences far from accesses, words for all lanes.
#include "hopper.cuh"

// out[0] = the sum of x [n]; the last block to finish adds what all of them have found.
extern "C" __global__ void last_block(const int* x, int* sums, unsigned* finished, int* out, int n) {
  __shared__ int part[64];
  __shared__ bool last;
  int t = threadIdx.x, sum = 0;
  for (int i = blockIdx.x * 64 + t; i < n; i += gridDim.x * 64) sum += x[i];
  part[t] = sum;
  __syncthreads();
  if (t == 0) {
    for (int i = 1; i < 64; ++i) sum += part[i];
    sums[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    __threadfence();
    if (t < gridDim.x) atomicAdd(out, sums[t]);
  }
}

// out [n, 32]: warp 0 hands the words x [n] to warp 1, one at a time; every lane of warp 1 reads each word.
extern "C" __global__ void one_word_for_all(const int* x, int* out, int n) {
  __shared__ int slot[2];
  __shared__ __align__(8) unsigned long long full[2], empty[2];
  unsigned filled = shared_address(full), free = shared_address(empty);
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k) {
      init(filled + k * 8, 1);
      init(free + k * 8, 1);
    }
  }
  __syncthreads();
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    if (lane == 0) {
#pragma unroll 1
      for (int i = 0; i < n; ++i) {
        wait(free + i % 2 * 8, i / 2 & 1 ^ 1);
        slot[i % 2] = x[i];
        arrive(filled + i % 2 * 8);
      }
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
      wait(filled + i % 2 * 8, i / 2 & 1);
      int word = slot[i % 2];
      __syncwarp();
      if (lane == 31) arrive(free + i % 2 * 8);
      out[i * 32 + lane] = word;
    }
  }
}

// x [64] is turned round in place: loaded in bulk, and stored by the threads.
extern "C" __global__ void turned_in_place(int* x) {
  __shared__ __align__(128) int tile[64];
  __shared__ __align__(8) unsigned long long full;
  unsigned filled = shared_address(&full);
  if (threadIdx.x == 0) {
    init(filled, 1);
    fence_init();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    expect(filled, sizeof(tile));
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            shared_address(tile)),
        "l"(x), "r"((unsigned)sizeof(tile)), "r"(filled) : "memory");
  }
  wait(filled, 0);
  x[threadIdx.x] = tile[63 - threadIdx.x];
}
