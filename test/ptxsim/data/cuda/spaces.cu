// Variables of the module: constant memory, initialised and zeroed device variables; blocks and grids of three dimensions.

__constant__ float coefficients[5] = {0.5f, -1.25f, 2.0f, 0.0f, -3.0f};
__device__ const short table[6] = {1, -2, 300, -400, 5, 32767};
__device__ int visits[4];
__device__ const char* const words[2] = {"ab", "xyz"};

extern "C" __global__ void polynomial(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 4; k >= 0; --k) sum = fmaf(sum, x[i], coefficients[k]);
  out[i] = sum + coefficients[i % 5];
}

extern "C" __global__ void module_variables(const int* x, int* out) {
  int i = threadIdx.x;
  out[i] = table[x[i] % 6] + words[x[i] & 1][i % 2];
  atomicAdd(&visits[x[i] & 3], 1);
  __syncthreads();
  if (i < 4) out[blockDim.x + i] = atomicExch(&visits[i], 0);
}

extern "C" __global__ void three_dimensions(int* out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  int width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
  out[(z * height + y) * width + x] = x + 100 * y + 10000 * z;
}

// One generic pointer that is shared memory for odd threads and global memory for even ones.
extern "C" __global__ void generic_addresses(const int* x, int* out) {
  __shared__ int copy[64];
  copy[threadIdx.x] = x[threadIdx.x] + 1000;
  __syncthreads();
  const int* from = threadIdx.x & 1 ? copy : x;
  unsigned shared;
  asm("{.reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(shared) : "l"(from));
  out[threadIdx.x] = from[63 - threadIdx.x] * 2 + shared;
}
