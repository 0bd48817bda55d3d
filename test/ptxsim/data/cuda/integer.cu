// Integer arithmetic and bit operations: row k of `out` holds the k-th result of every pair (a[i], b[i]).

extern "C" __global__ void integer_arithmetic(const int* a, const int* b, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i];
  unsigned ux = x, uy = y;
  unsigned* to = out + i;
  to[0 * n] = x + y;
  to[1 * n] = x - y;
  to[2 * n] = x * y;
  to[3 * n] = __mulhi(x, y);
  to[4 * n] = __umulhi(ux, uy);
  to[5 * n] = x / y;
  to[6 * n] = x % y;
  to[7 * n] = ux / uy;
  to[8 * n] = ux % uy;
  to[9 * n] = min(x, y);
  to[10 * n] = max(ux, uy);
  to[11 * n] = abs(x);
  to[12 * n] = __sad(x, y, 7u);
  to[13 * n] = __mul24(x, y);
  to[14 * n] = x >> (y & 31);
  to[15 * n] = ux >> (uy & 31);
  to[16 * n] = x << (y & 31);
  to[17 * n] = __hadd(x, y);
  asm("add.sat.s32 %0, %1, %2;" : "=r"(to[18 * n]) : "r"(x), "r"(y));
  asm("sub.sat.s32 %0, %1, %2;" : "=r"(to[19 * n]) : "r"(x), "r"(y));
  to[20 * n] = (unsigned)(unsigned char)(x * 5) + (unsigned)(int)(signed char)(y - 3);
  to[21 * n] = (int)(short)x * (int)(short)y;
}

extern "C" __global__ void bit_operations(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = a[i], y = b[i];
  unsigned* to = out + i;
  to[0 * n] = __popc(x);
  to[1 * n] = __clz(x);
  to[2 * n] = __brev(x);
  to[3 * n] = __ffs(x);
  to[4 * n] = __byte_perm(x, y, 0x7250);
  to[5 * n] = __funnelshift_l(x, y, 11);
  to[6 * n] = __funnelshift_rc(x, y, y & 63);
  to[7 * n] = (x & y) ^ (~x | 0x0f0f0f0fu);
  to[8 * n] = __dp4a((int)x, (int)y, 100);
  to[9 * n] = __dp4a(x, y, 100u);
  asm("bfe.u32 %0, %1, %2, %3;" : "=r"(to[10 * n]) : "r"(x), "r"(y & 31), "r"((y >> 8) & 31));
  asm("bfe.s32 %0, %1, %2, %3;" : "=r"(to[11 * n]) : "r"(x), "r"(y & 31), "r"((y >> 8) & 31));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(to[12 * n]) : "r"(x), "r"(y), "r"(y & 31), "r"((y >> 8) & 31));
  asm("bfind.u32 %0, %1;" : "=r"(to[13 * n]) : "r"(x));
  asm("bfind.shiftamt.s32 %0, %1;" : "=r"(to[14 * n]) : "r"(x));
  asm("fns.b32 %0, %1, %2, %3;" : "=r"(to[15 * n]) : "r"(x), "r"(y & 31), "r"((int)((y >> 8) & 7) - 3));
  asm("lop3.b32 %0, %1, %2, %3, 0xe8;" : "=r"(to[16 * n]) : "r"(x), "r"(y), "r"(x >> 7));
  asm("prmt.b32 %0, %1, %2, %3;" : "=r"(to[17 * n]) : "r"(x), "r"(y), "r"(y >> 3));
}

extern "C" __global__ void wide_integers(const unsigned long long* a, const unsigned long long* b,
                                         unsigned long long* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = a[i], y = b[i];
  unsigned long long* to = out + i;
  unsigned __int128 pair = ((unsigned __int128)x << 64) | y, other = ((unsigned __int128)y << 64) | (x * 3);
  unsigned __int128 sum = pair + other, difference = pair - other, product = pair * other;
  to[0 * n] = (unsigned long long)(sum >> 64);
  to[1 * n] = (unsigned long long)sum;
  to[2 * n] = (unsigned long long)(difference >> 64);
  to[3 * n] = (unsigned long long)(product >> 64);
  to[4 * n] = __umul64hi(x, y);
  to[5 * n] = __mul64hi((long long)x, (long long)y);
  to[6 * n] = x / y;
  to[7 * n] = (long long)x % (long long)y;
  to[8 * n] = __clzll(x) * 64 + __popcll(x);
  to[9 * n] = __brevll(x);
  to[10 * n] = (unsigned long long)(unsigned)x * (unsigned)y;
  to[11 * n] = (long long)(int)x * (int)y + (long long)(x >> 3);
  unsigned low, carry;
  asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, 0, 0;" : "=r"(low), "=r"(carry) : "r"((unsigned)x), "r"((unsigned)y));
  to[12 * n] = ((unsigned long long)carry << 32) | low;
  to[13 * n] = (long long)x >> (y & 63);
}
