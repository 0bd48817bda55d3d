// nvcuda::wmma: a product of any size through tiles in shared memory, and one warp's product of every type.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda::wmma;

// c [m, n] = a [m, k] b [k, n]: four warps compute 32 x 32 elements; rows of the tiles are padded by 8 elements.
extern "C" __global__ void wmma_gemm(const __half* a, const __half* b, float* c, int m, int n, int k) {
  __shared__ alignas(32) __half left[32][24], right[16][40];
  __shared__ alignas(32) float sums[4][16][16];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32, down = warp / 2 * 16, along = warp % 2 * 16;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.f);
#pragma unroll 1
  for (int start = 0; start < k; start += 16) {
    for (int i = threadIdx.x; i < 512; i += 128) {
      int row = blockIdx.y * 32 + i / 16, column = start + i % 16;
      left[i / 16][i % 16] = row < m && column < k ? a[row * k + column] : __half(0.f);
      row = start + i / 32, column = blockIdx.x * 32 + i % 32;
      right[i / 32][i % 32] = row < k && column < n ? b[row * n + column] : __half(0.f);
    }
    __syncthreads();
    fragment<matrix_a, 16, 16, 16, __half, row_major> x;
    fragment<matrix_b, 16, 16, 16, __half, row_major> y;
    load_matrix_sync(x, &left[down][0], 24);
    load_matrix_sync(y, &right[0][along], 40);
    mma_sync(sum, x, y, sum);
    __syncthreads();
  }
  store_matrix_sync(&sums[warp][0][0], sum, 16, mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32) {
    int row = blockIdx.y * 32 + down + i / 16, column = blockIdx.x * 32 + along + i % 16;
    if (row < m && column < n) c[row * n + column] = sums[warp][i / 16][i % 16];
  }
}

// out [M, N] = a [M, K] b^T + 1, b [N, K]; integers saturate.
template <int M, int N, int K, typename T, typename Stored, typename Sum>
__device__ void product(const Stored* a, const Stored* b, Sum* out) {
  fragment<matrix_a, M, N, K, T, row_major> x;
  fragment<matrix_b, M, N, K, T, col_major> y;
  fragment<accumulator, M, N, K, Sum> sum;
  fill_fragment(sum, Sum(1.f));
  load_matrix_sync(x, a, K);
  load_matrix_sync(y, b, K);
  mma_sync(sum, x, y, sum);
  store_matrix_sync(out, sum, N, mem_row_major);
}

extern "C" __global__ void wmma_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* out) {
  product<8, 32, 16, __nv_bfloat16>(a, b, out);
}
extern "C" __global__ void wmma_f16(const __half* a, const __half* b, __half* out) { product<32, 8, 16, __half>(a, b, out); }
extern "C" __global__ void wmma_tf32(const float* a, const float* b, float* out) {
  product<16, 16, 8, precision::tf32>(a, b, out);
}
extern "C" __global__ void wmma_f64(const double* a, const double* b, double* out) { product<8, 8, 4, double>(a, b, out); }
extern "C" __global__ void wmma_s8(const signed char* a, const signed char* b, int* out) {
  product<16, 16, 16, signed char>(a, b, out);
}
extern "C" __global__ void wmma_u8(const unsigned char* a, const unsigned char* b, int* out) {
  product<8, 32, 16, unsigned char>(a, b, out);
}

// c = alpha a b + beta c, all of them [64, 64] and column-major: a warp has a tile, whose elements it scales where they are held.
extern "C" __global__ void wmma_scaled(const __half* a, const __half* b, float* c, float alpha, float beta) {
  int row = blockIdx.x * 16, column = (blockIdx.y * blockDim.y + threadIdx.y) * 16;
  fragment<accumulator, 16, 16, 16, float> sum, before;
  fill_fragment(sum, 0.f);
#pragma unroll 1
  for (int k = 0; k < 64; k += 16) {
    fragment<matrix_a, 16, 16, 16, __half, col_major> x;
    fragment<matrix_b, 16, 16, 16, __half, col_major> y;
    load_matrix_sync(x, a + k * 64 + row, 64);
    load_matrix_sync(y, b + column * 64 + k, 64);
    mma_sync(sum, x, y, sum);
  }
  load_matrix_sync(before, c + column * 64 + row, 64, mem_col_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + beta * before.x[i];
  store_matrix_sync(c + column * 64 + row, sum, 64, mem_col_major);
}

// out = the saturated a b^T + out.
extern "C" __global__ void wmma_saturated(const signed char* a, const signed char* b, int* out) {
  fragment<matrix_a, 16, 16, 16, signed char, row_major> x;
  fragment<matrix_b, 16, 16, 16, signed char, col_major> y;
  fragment<accumulator, 16, 16, 16, int> sum;
  load_matrix_sync(x, a, 16);
  load_matrix_sync(y, b, 16);
  load_matrix_sync(sum, out, 16, mem_row_major);
  mma_sync(sum, x, y, sum, true);
  store_matrix_sync(out, sum, 16, mem_row_major);
}
