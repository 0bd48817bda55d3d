// f32 and f64 arithmetic with every rounding, conversions, and the approximate functions. Rows of `out` as in integer.cu.

extern "C" __global__ void float_arithmetic(const float* a, const float* b, const float* c, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i], y = b[i], z = c[i];
  float* to = out + i;
  to[0 * n] = __fadd_rn(x, y);
  to[1 * n] = __fadd_rz(x, y);
  to[2 * n] = __fadd_ru(x, y);
  to[3 * n] = __fadd_rd(x, y);
  to[4 * n] = __fmul_rn(x, y);
  to[5 * n] = __fmul_rz(x, y);
  to[6 * n] = __fmaf_rn(x, y, z);
  to[7 * n] = __fmaf_rz(x, y, z);
  to[8 * n] = __fmaf_ru(x, y, z);
  to[9 * n] = __fmaf_rd(x, y, z);
  to[10 * n] = __fdiv_rn(x, y);
  to[11 * n] = __frcp_rn(y);
  to[12 * n] = __fsqrt_rn(fabsf(x));
  to[13 * n] = fminf(x, y);
  to[14 * n] = fmaxf(x, z);
  to[15 * n] = __saturatef(x);
  to[16 * n] = copysignf(x, y);
  asm("add.ftz.f32 %0, %1, %2;" : "=f"(to[17 * n]) : "f"(x * 1e-38f), "f"(y * 1e-39f));
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(to[18 * n]) : "f"(x * 1e-20f), "f"(y * 1e-19f));
  to[19 * n] = x < y ? -z : z;
}

extern "C" __global__ void double_arithmetic(const double* a, const double* b, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = a[i], y = b[i];
  double* to = out + i;
  to[0 * n] = x + y;
  to[1 * n] = __dmul_rz(x, y);
  to[2 * n] = __fma_rn(x, y, 1.0);
  to[3 * n] = __ddiv_rn(x, y);
  to[4 * n] = __dsqrt_rn(fabs(x));
  to[5 * n] = __dadd_ru(x, y);
  to[6 * n] = (double)(float)x;
  to[7 * n] = fmin(x, floor(y));
}

extern "C" __global__ void conversions(const float* a, const int* b, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  int y = b[i];
  unsigned* to = out + i;
  to[0 * n] = __float2int_rn(x);
  to[1 * n] = __float2int_rz(x);
  to[2 * n] = __float2int_ru(x);
  to[3 * n] = __float2int_rd(x);
  to[4 * n] = __float2uint_rz(x);
  to[5 * n] = (unsigned)(__float2ll_rz(x * 1e6f) >> 8);
  to[6 * n] = __float_as_uint(__int2float_rn(y));
  to[7 * n] = __float_as_uint(__int2float_rz(y));
  to[8 * n] = __float_as_uint(__int2float_ru(y));
  to[9 * n] = __float_as_uint(__uint2float_rd((unsigned)y));
  to[10 * n] = __float_as_uint(floorf(x) + 2.0f * ceilf(x));
  to[11 * n] = __float_as_uint(truncf(x) - rintf(x));
  asm("{.reg .u8 t; cvt.rni.sat.u8.f32 t, %1; cvt.u32.u8 %0, t;}" : "=r"(to[12 * n]) : "f"(x));
  asm("{.reg .s8 t; cvt.rzi.s8.f32 t, %1; cvt.s32.s8 %0, t;}" : "=r"(to[13 * n]) : "f"(x));
  asm("{.reg .s16 t; cvt.sat.s16.s32 t, %1; cvt.s32.s16 %0, t;}" : "=r"(to[14 * n]) : "r"(y));
  asm("{.reg .u8 t; cvt.sat.u8.s32 t, %1; cvt.u32.u8 %0, t;}" : "=r"(to[15 * n]) : "r"(y));
  to[16 * n] = __double2int_rd((double)x * 0.125);
}

extern "C" __global__ void approximations(const float* a, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = a[i];
  float* to = out + i;
  asm("ex2.approx.f32 %0, %1;" : "=f"(to[0 * n]) : "f"(x));
  asm("lg2.approx.f32 %0, %1;" : "=f"(to[1 * n]) : "f"(fabsf(x)));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(to[2 * n]) : "f"(x));
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(to[3 * n]) : "f"(fabsf(x)));
  asm("sqrt.approx.f32 %0, %1;" : "=f"(to[4 * n]) : "f"(fabsf(x)));
  asm("sin.approx.f32 %0, %1;" : "=f"(to[5 * n]) : "f"(x));
  asm("cos.approx.f32 %0, %1;" : "=f"(to[6 * n]) : "f"(x));
  asm("tanh.approx.f32 %0, %1;" : "=f"(to[7 * n]) : "f"(x));
  asm("div.full.f32 %0, %1, %2;" : "=f"(to[8 * n]) : "f"(1.5f), "f"(x));
  to[9 * n] = expf(x);
  to[10 * n] = logf(fabsf(x));
  to[11 * n] = erff(x);
}
