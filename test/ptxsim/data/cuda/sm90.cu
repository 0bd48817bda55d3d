// What sm_90 adds to a single warp: stmatrix, fp8 conversions, bf16 arithmetic, min and max of three.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// Four 8 x 8 tiles are stored side by side, the last two transposed.
extern "C" __global__ void store_matrices(const unsigned* x, unsigned* out) {
  __shared__ alignas(16) unsigned short tile[4][8][8];
  int lane = threadIdx.x;
  unsigned to = (unsigned)__cvta_generic_to_shared(&tile[lane / 8 % 2][lane % 8][0]);
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(to), "r"(x[lane]), "r"(x[32 + lane]) : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1, %2};" ::"r"(to + 256), "r"(x[64 + lane]),
               "r"(x[96 + lane]) : "memory");
  __syncwarp();
  for (int k = 0; k < 4; ++k) out[k * 32 + lane] = ((unsigned*)tile)[k * 32 + lane];
}

extern "C" __global__ void fp8_conversions(const float* x, unsigned short* e4m3, unsigned short* e5m2, unsigned* wide, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float low = x[2 * i], high = x[2 * i + 1];
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(e4m3[i]) : "f"(high), "f"(low));
  asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(e5m2[i]) : "f"(high), "f"(low));
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide[2 * i]) : "h"(e4m3[i]));
  asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(wide[2 * i + 1]) : "h"(e5m2[i]));
}

extern "C" __global__ void bfloat_sums(const __nv_bfloat162* a, const __nv_bfloat162* b, __nv_bfloat162* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd2_rn(a[i], b[i]);
  out[n + i] = __hmul2_rn(a[i], b[i]);
  out[2 * n + i] = __hsub2_rn(a[i], b[i]);
}

extern "C" __global__ void integer_clamps(const int* a, const int* b, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __vimax_s32_relu(a[i], b[i]);
  out[n + i] = __vimin3_s32(a[i], b[i], 40);
  out[2 * n + i] = __vimax3_s32(a[i], b[i], -40);
}
