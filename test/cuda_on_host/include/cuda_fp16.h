// f16 on the CPU: storage, and conversions that round to nearest even.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

struct half {
  uint16_t bits;
};

inline float __half2float(half x) {
  const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  float magnitude;
  if (exponent == 31) {
    magnitude = fraction ? NAN : INFINITY;
  } else if (exponent == 0) {
    magnitude = std::ldexp(float(fraction), -24);
  } else {
    magnitude = std::ldexp(float(fraction + 1024), exponent - 25);
  }
  return x.bits >> 15 ? -magnitude : magnitude;
}

inline half __float2half_rn(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  const uint16_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) return {uint16_t(sign | 0x7e00)};
  if (bits >= 0x477ff000) return {uint16_t(sign | 0x7c00)};
  if (bits < 0x38800000) return {uint16_t(sign | uint16_t(std::nearbyint(std::fabs(x) * 0x1p24f)))};
  return {uint16_t(sign | ((bits + 0xfff + (bits >> 13 & 1) - 0x38000000) >> 13))};
}

inline half operator+(half a, half b) { return __float2half_rn(__half2float(a) + __half2float(b)); }
