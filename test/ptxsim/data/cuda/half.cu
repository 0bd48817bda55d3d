// Packed and scalar f16 and bf16 arithmetic, and their conversions. Rows of `out` as in integer.cu.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void half_arithmetic(const __half2* a, const __half2* b, const __half2* c, __half2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __half2 x = a[i], y = b[i], z = c[i];
  __half2* to = out + i;
  to[0 * n] = __hadd2_rn(x, y);
  to[1 * n] = __hsub2_rn(x, y);
  to[2 * n] = __hmul2_rn(x, y);
  to[3 * n] = __hfma2(x, y, z);
  to[4 * n] = __hfma2_relu(x, y, z);
  to[5 * n] = __hmax2(x, y);
  to[6 * n] = __hmin2(x, z);
  to[7 * n] = __habs2(__hneg2(x));
  to[8 * n] = __floats2half2_rn(__low2float(x) * 3.7f, __high2float(y) * 0.3f);
  to[9 * n] = __halves2half2(__int2half_rn(__half2int_rz(__low2half(x))), __hadd_rn(__high2half(x), __low2half(y)));
  to[10 * n] = __hgt2(x, y);
}

extern "C" __global__ void bfloat_arithmetic(const __nv_bfloat162* a, const __nv_bfloat162* b, const __nv_bfloat162* c,
                                             __nv_bfloat162* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __nv_bfloat162 x = a[i], y = b[i], z = c[i];
  __nv_bfloat162* to = out + i;
  to[0 * n] = __hfma2(x, y, z);
  to[1 * n] = __hmax2(x, y);
  to[2 * n] = __hfma2_relu(x, y, z);
  to[3 * n] = __floats2bfloat162_rn(__low2float(x) * 3.7f, __high2float(y) * 0.3f);
  to[4 * n] = __hneg2(__habs2(x));
}
