// Asynchronous copies of a thread (cp.async): a pipeline of two stages, tails filled with zeros, completion at an mbarrier.

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return (unsigned)__cvta_generic_to_shared(pointer);
}
__device__ __forceinline__ void copy16(void* to, const void* from, int bytes = 16) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from), "r"(bytes) : "memory");
}

// Each thread uses what another thread has copied.
extern "C" __global__ void pipelined(const float* x, float* out, int chunks) {
  __shared__ alignas(16) float stage[2][256];
  const float* row = x + blockIdx.x * chunks * 256 + threadIdx.x * 4;
  float sum[4] = {};
  copy16(&stage[0][threadIdx.x * 4], row);
  asm volatile("cp.async.commit_group;" ::: "memory");
#pragma unroll 1
  for (int chunk = 0; chunk < chunks; ++chunk) {
    if (chunk + 1 < chunks) copy16(&stage[(chunk + 1) & 1][threadIdx.x * 4], row + (chunk + 1) * 256);
    asm volatile("cp.async.commit_group;" ::: "memory");
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    for (int k = 0; k < 4; ++k) sum[k] += stage[chunk & 1][(63 - threadIdx.x) * 4 + k] * (chunk + 1);
    __syncthreads();
  }
  for (int k = 0; k < 4; ++k) out[blockIdx.x * 256 + threadIdx.x * 4 + k] = sum[k];
}

extern "C" __global__ void zero_filled_tail(const int* x, int* out, int n) {
  __shared__ alignas(16) int tile[128];
  int left = n - (int)threadIdx.x * 4, bytes = max(0, min(left * 4, 16));
  copy16(&tile[threadIdx.x * 4], left > 0 ? x + threadIdx.x * 4 : x, bytes);
  asm volatile("cp.async.wait_all;" ::: "memory");
  for (int k = 0; k < 4; ++k) out[threadIdx.x * 4 + k] = tile[threadIdx.x * 4 + k] + 1;
}

// 4- and 8-byte copies, whose completion counts as an arrival at a barrier; the state of an arrival is waited for.
extern "C" __global__ void copies_at_a_barrier(const int* x, int* out) {
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ alignas(16) int tile[192];
  unsigned at = shared_address(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(64) : "memory");
  __syncthreads();
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&tile[threadIdx.x])), "l"(x + threadIdx.x));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(shared_address(&tile[64 + threadIdx.x * 2])),
               "l"(x + 64 + threadIdx.x * 2));
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
  unsigned long long state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
  unsigned complete = 0;
  while (!complete)
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(complete) : "r"(at), "l"(state) : "memory");
  for (int k = 0; k < 3; ++k) out[threadIdx.x + 64 * k] = tile[191 - threadIdx.x - 64 * k];
}
