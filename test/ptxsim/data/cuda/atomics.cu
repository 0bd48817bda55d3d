// Atomic operations in global and shared memory, loops of compare-and-swap, locks, and the last block that finishes.
#include <cuda_fp16.h>

extern "C" __global__ void global_atomics(const int* x, int* cells, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&cells[0], x[i]);
  atomicMin(&cells[1], x[i]);
  atomicMax((unsigned*)&cells[2], (unsigned)x[i]);
  atomicAnd(&cells[3], x[i] | 0xff);
  atomicOr(&cells[4], x[i] & 0xff00);
  atomicXor(&cells[5], x[i]);
  int ticket = atomicInc((unsigned*)&cells[6], 1000u);
  atomicDec((unsigned*)&cells[7], 9u);
  atomicSub(&cells[8], ticket);
  if (ticket == n - 1) atomicExch(&cells[9], 77);
  atomicAdd((unsigned long long*)&cells[10], (unsigned long long)(unsigned)x[i] << 8);
}

extern "C" __global__ void float_atomics(const float* x, float* sum, double* wide, __half2* packed, int* largest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(sum, x[i]);
  atomicAdd(wide, (double)x[i]);
  atomicAdd(packed, __floats2half2_rn(x[i], 1.0f));
  int seen = *(volatile int*)largest;
  while (__int_as_float(seen) < x[i]) {
    int assumed = seen;
    seen = atomicCAS(largest, assumed, __float_as_int(x[i]));
    if (seen == assumed) break;
  }
}

extern "C" __global__ void histogram(const unsigned char* x, unsigned* bins, int n) {
  __shared__ unsigned local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&local[x[i] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Each block leaves its sum; the one that comes last adds them up.
extern "C" __global__ void last_block(const int* x, volatile int* parts, unsigned* arrived, int* total) {
  __shared__ bool last;
  int sum = __reduce_add_sync(~0u, x[blockIdx.x * 32 + threadIdx.x]);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int all = 0;
    for (int block = 0; block < gridDim.x; ++block) all += parts[block];
    *total = all;
  }
}

// Every thread adds to a plain variable while it holds the lock; lanes of one warp compete, too.
extern "C" __global__ void spin_lock(int* lock, volatile int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *counter = *counter * 2 % 1009 + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}
