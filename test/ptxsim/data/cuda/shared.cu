// Shared memory, static and dynamic: reduction, scan, transpose; barriers with votes and with names.

extern "C" __global__ void block_sum(const float* x, float* out, int n) {
  __shared__ float part[128];
  int i = blockIdx.x * 128 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void transpose(const float* x, float* out, int rows, int columns) {
  extern __shared__ float tile[];  // [16][17]: the padding keeps the columns in distinct banks
  int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row < rows && column < columns) tile[threadIdx.y * 17 + threadIdx.x] = x[row * columns + column];
  __syncthreads();
  row = blockIdx.x * 16 + threadIdx.y, column = blockIdx.y * 16 + threadIdx.x;
  if (row < columns && column < rows) out[row * rows + column] = tile[threadIdx.x * 17 + threadIdx.y];
}

extern "C" __global__ void block_scan(const int* x, int* out) {
  __shared__ int buffer[2][96];
  int lane = threadIdx.x, from = 0;
  buffer[0][lane] = x[blockIdx.x * 96 + lane];
  __syncthreads();
  for (int step = 1; step < 96; step *= 2) {
    buffer[1 - from][lane] = buffer[from][lane] + (lane >= step ? buffer[from][lane - step] : 0);
    from = 1 - from;
    __syncthreads();
  }
  out[blockIdx.x * 96 + lane] = buffer[from][lane];
}

extern "C" __global__ void barrier_votes(const int* x, int* out) {
  int value = x[blockIdx.x * blockDim.x + threadIdx.x];
  int count = __syncthreads_count(value > 0);
  int all = __syncthreads_and(value > -90);
  int any = __syncthreads_or(value > 90);
  if (threadIdx.x == 0) {
    out[blockIdx.x * 3 + 0] = count;
    out[blockIdx.x * 3 + 1] = all != 0;
    out[blockIdx.x * 3 + 2] = any != 0;
  }
}

// Warps 0 and 1 make what warps 2 and 3 use: barrier 1 says "full", barrier 2 "empty".
extern "C" __global__ void named_barriers(const int* x, int* out, int rounds) {
  __shared__ int slot[64];
  int lane = threadIdx.x % 64;
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x < 64) {
      slot[lane] = x[round * 64 + lane] * 3;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
      asm volatile("bar.sync 2, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 128;" ::: "memory");
      out[round * 64 + lane] = slot[63 - lane];
      asm volatile("bar.arrive 2, 128;" ::: "memory");
    }
  }
}
