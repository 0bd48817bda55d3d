// Bulk copies without a tensor map: global to shared and back, reduction into global memory, from block to block.
#include "hopper.cuh"

// out = 2 x: chunks of 256 numbers go through shared memory, which one thread fills and empties.
extern "C" __global__ void bulk_double(const int* x, int* out, int chunks) {
  __shared__ alignas(16) int tile[256];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned to = shared_address(tile), at = shared_address(&barrier);
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
  }
  __syncthreads();
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (threadIdx.x == 0) {
      wait_copies_read();  // the last store has read the tile
      expect(at, 1024);
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to),
                   "l"(x + chunk * 256), "r"(at) : "memory");
    }
    wait(at, chunk & 1);
    for (int k = threadIdx.x; k < 256; k += blockDim.x) tile[k] *= 2;
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(out + chunk * 256), "r"(to) : "memory");
      commit_copies();
    }
  }
  if (threadIdx.x == 0) wait_copies();
}

// Every block adds its numbers to the same row, without a thread of its own reading that row.
extern "C" __global__ void bulk_add(const int* x, int* total) {
  __shared__ alignas(16) int tile[64];
  tile[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 256;" ::"l"(total),
                 "r"(shared_address(tile)) : "memory");
    commit_copies();
    wait_copies();
  }
}

// Each block sends its tile to the other one's memory and counts the bytes at the other one's barrier.
extern "C" __global__ void __cluster_dims__(2, 1, 1) bulk_to_neighbour(const int* x, int* out) {
  __shared__ alignas(16) int mine[64], theirs[64];
  __shared__ alignas(8) unsigned long long barrier;
  unsigned at = shared_address(&barrier), other = cluster_rank() ^ 1;
  mine[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
  if (threadIdx.x == 0) {
    init(at, 1);
    fence_init();
    expect(at, 256);
  }
  fence_proxy();
  cluster_sync();
  if (threadIdx.x == 0)
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(
            at_rank(shared_address(theirs), other)),
        "r"(shared_address(mine)), "r"(at_rank(at, other)) : "memory");
  wait(at, 0);
  out[blockIdx.x * 64 + threadIdx.x] = theirs[63 - threadIdx.x];
  cluster_sync();
}
