// Exchange within a warp: shuffles, votes, matches, integer reductions, the set of active lanes.

extern "C" __global__ void shuffles(const int* x, int* out) {
  int lane = threadIdx.x, value = x[lane], n = blockDim.x;
  out[0 * n + lane] = __shfl_sync(~0u, value, 5);
  out[1 * n + lane] = __shfl_sync(~0u, value, lane * 7);
  out[2 * n + lane] = __shfl_up_sync(~0u, value, 3);
  out[3 * n + lane] = __shfl_down_sync(~0u, value, 9);
  out[4 * n + lane] = __shfl_xor_sync(~0u, value, 13);
  out[5 * n + lane] = __shfl_up_sync(~0u, value, 2, 8);
  out[6 * n + lane] = __shfl_down_sync(~0u, value, 5, 16);
  out[7 * n + lane] = __shfl_sync(~0u, value, lane + 3, 4);
  int moved, inside;
  asm volatile("{.reg .pred p; shfl.sync.down.b32 %0|p, %2, 20, 31, -1; selp.s32 %1, 1, 0, p;}"
               : "=r"(moved), "=r"(inside) : "r"(value));
  out[8 * n + lane] = inside ? moved : -1;
}

extern "C" __global__ void votes(const int* x, unsigned* out) {
  int lane = threadIdx.x, value = x[lane], n = blockDim.x;
  out[0 * n + lane] = __ballot_sync(~0u, value > 0);
  out[1 * n + lane] = __any_sync(~0u, value > 60);
  out[2 * n + lane] = __all_sync(~0u, value > -100);
  out[3 * n + lane] = __match_any_sync(~0u, value % 4);
  int same;
  out[4 * n + lane] = __match_all_sync(~0u, value / 1000, &same);
  out[5 * n + lane] = same;
  unsigned mask = 0xffffu << (lane & 16);
  if (lane & 16) out[6 * n + lane] = __ballot_sync(mask, value & 1);
  else out[6 * n + lane] = __ballot_sync(mask, value & 2);
}

extern "C" __global__ void warp_reductions(const int* x, int* out) {
  int lane = threadIdx.x, value = x[lane], n = blockDim.x;
  out[0 * n + lane] = __reduce_add_sync(~0u, value);
  out[1 * n + lane] = __reduce_min_sync(~0u, value);
  out[2 * n + lane] = __reduce_max_sync(~0u, (unsigned)value);
  out[3 * n + lane] = __reduce_and_sync(~0u, (unsigned)value);
  out[4 * n + lane] = __reduce_or_sync(~0u, (unsigned)value);
  out[5 * n + lane] = __reduce_xor_sync(~0u, (unsigned)value);
  int sum = value;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  out[6 * n + lane] = sum;
}

// The last warp of the block is not full: the block has 48 threads.
extern "C" __global__ void active_lanes(unsigned* out) { out[threadIdx.x] = __activemask(); }
