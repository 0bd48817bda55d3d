// bf16 on the CPU: storage, and conversions that round to nearest even.
#pragma once

#include <cstdint>
#include <cstring>

struct __nv_bfloat16 {
  uint16_t bits;
};

inline float __bfloat162float(__nv_bfloat16 x) {
  const uint32_t bits = uint32_t(x.bits) << 16;
  float number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  if (x != x) return {uint16_t(bits >> 16 | 0x40)};
  return {uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

inline __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __float2bfloat16_rn(__bfloat162float(a) + __bfloat162float(b));
}
