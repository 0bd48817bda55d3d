// A ring of two slots between two warps: "full" and "empty" barriers, waited for by parity.
#include "hopper.cuh"

extern "C" __global__ void ring(const int* x, int* out, int rounds) {
  __shared__ alignas(8) unsigned long long full[2], empty[2];
  __shared__ int slot[2][32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x == 0)
    for (int k = 0; k < 2; ++k) {
      init(shared_address(&full[k]), 32);
      init(shared_address(&empty[k]), 32);
    }
  __syncthreads();
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    int k = round % 2;
    unsigned parity = round / 2 & 1;
    if (threadIdx.x < 32) {
      wait(shared_address(&empty[k]), parity ^ 1);  // the phase before the first is complete
      slot[k][lane] = x[round * 32 + lane] + round;
      arrive(shared_address(&full[k]));
    } else {
      wait(shared_address(&full[k]), parity);
      out[round * 32 + lane] = slot[k][31 - lane];
      arrive(shared_address(&empty[k]));
    }
  }
}
