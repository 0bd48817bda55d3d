// Blocks of one cluster: shared memory of other blocks read, written and added to, barriers of the cluster and remote ones.
#include "hopper.cuh"

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(const int* x, int* out) {
  __shared__ int part;
  int sum = __reduce_add_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) part = sum;
  cluster_sync();
  if (threadIdx.x < 4) {
    int other;
    asm volatile("ld.shared::cluster.s32 %0, [%1];"
                 : "=r"(other) : "r"(at_rank(shared_address(&part), threadIdx.x)) : "memory");
    sum = __reduce_add_sync(0xf, other);
    if (threadIdx.x == 0) out[blockIdx.x] = sum * 10 + cluster_rank();
  }
  cluster_sync();  // a block may end only when no other one reads its memory
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_exchange(const int* x, int* out) {
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ int box[32];
  unsigned at = shared_address(&barrier), other = cluster_rank() ^ 1;
  if (threadIdx.x == 0) {
    init(at, 32);
    fence_init();
  }
  cluster_sync();
  unsigned to = at_rank(shared_address(&box[31 - threadIdx.x]), other);
  asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(to), "r"(x[blockIdx.x * 32 + threadIdx.x]) : "memory");
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at_rank(at, other)) : "memory");
  asm volatile(
      "{\n\t.reg .pred complete;\n"
      "again:\n\tmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%0], 0;\n\t"
      "@!complete bra again;\n\t}" ::"r"(at) : "memory");
  out[blockIdx.x * 32 + threadIdx.x] = box[threadIdx.x];
  cluster_sync();
}

extern "C" __global__ void __cluster_dims__(2, 2, 1) cluster_histogram(const int* x, int* out, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  cluster_sync();
  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) {  // rank r counts the values with value / 16 == r
    unsigned to = at_rank(shared_address(&bins[x[i] % 16]), x[i] / 16);
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(to) : "memory");
  }
  cluster_sync();
  unsigned rank = cluster_rank();
  if (threadIdx.x < 16) atomicAdd(&out[rank * 16 + threadIdx.x], bins[threadIdx.x]);
}
