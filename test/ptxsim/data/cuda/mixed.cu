// What ordinary code is made of, a step of each: integers, floats, shared memory, a shuffle, a branch. 256 threads.

extern "C" __global__ void mixed(const float* x, float* out, int n, int steps) {
  __shared__ float tile[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  float value = x[i];
  unsigned state = i;
  for (int step = 0; step < steps; ++step) {
    tile[threadIdx.x] = value;
    __syncthreads();
    state = state * 1664525u + 1013904223u;
    float other = tile[state >> 24];
    __syncthreads();
    value = 0.5f * other + 0.25f * value;
    value += 0.125f * __shfl_xor_sync(0xffffffffu, value, 1 << step % 5);
    if (state & 256) value = fmaxf(value, 0.0f) - x[(state >> 9) % n];
  }
  out[i] = value;
}
