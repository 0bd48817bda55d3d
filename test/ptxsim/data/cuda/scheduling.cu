// Waiting for other warps and other grids: a flag that is polled with nanosleep, griddepcontrol, one elected lane.

// Warp 1 makes what warp 0 uses; only a flag in global memory orders them.
extern "C" __global__ void flag_wait(const int* x, int* made, unsigned* flag, int* out) {
  int lane = threadIdx.x % 32, i = blockIdx.x * 32 + lane;
  if (threadIdx.x >= 32) {
    made[i] = x[i] * 5;
    __syncwarp();
    if (lane == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag + blockIdx.x) : "memory");
  } else {
    if (lane == 0) {
      unsigned seen = 0;
      while (true) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag + blockIdx.x) : "memory");
        if (seen) break;
        __nanosleep(100);
      }
    }
    __syncwarp();
    out[i] = made[blockIdx.x * 32 + 31 - lane];
  }
}

extern "C" __global__ void dependent_grid(const int* x, int* out, int n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = x[i] - 1;
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// One lane of each warp counts; which one is left open.
extern "C" __global__ void elected_lanes(int* count, unsigned* agreed) {
  unsigned elected, leader;
  asm volatile("{.reg .pred p; elect.sync %1|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(elected), "=r"(leader));
  if (elected) atomicAdd(count, 1);
  agreed[threadIdx.x] = elected == (threadIdx.x % 32 == leader);
}
