// Softmax along rows of f32, in two ways: a cluster holds its row in registers and reads it once; a CTA reads it twice.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

// The greatest value so far, and the sum of exp(x - greatest).
struct Partial {
    float greatest, sum;
};

__device__ Partial joined(Partial a, Partial b) {
    float greatest = fmaxf(a.greatest, b.greatest);
    return {greatest, a.sum * __expf(a.greatest - greatest) + b.sum * __expf(b.greatest - greatest)};
}

template <int WARPS>
__device__ Partial joined_in_cta(Partial mine, Partial *of_warps) {
    for (int distance = 16; distance > 0; distance /= 2) {
        mine = joined(mine, {__shfl_xor_sync(~0u, mine.greatest, distance), __shfl_xor_sync(~0u, mine.sum, distance)});
    }
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = of_warps[0];
    for (int warp = 1; warp < WARPS; ++warp) mine = joined(mine, of_warps[warp]);
    return mine;
}

// A cluster of CTAS for a row of CTAS * THREADS * 4 * LOADS numbers.
template <int CTAS, int THREADS, int LOADS>
__global__ __launch_bounds__(THREADS) void read_once(const float4 *x, float4 *y) {
    __shared__ Partial of_warps[THREADS / 32], of_ctas[CTAS];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    size_t first = size_t(blockIdx.x) * THREADS * LOADS + threadIdx.x;
    float4 held[LOADS];
#pragma unroll
    for (int at = 0; at < LOADS; ++at) held[at] = x[first + at * THREADS];
    float greatest = held[0].x;
#pragma unroll
    for (int at = 0; at < LOADS; ++at) {
        greatest = fmaxf(fmaxf(greatest, fmaxf(held[at].x, held[at].y)), fmaxf(held[at].z, held[at].w));
    }
    float sum = 0;
#pragma unroll
    for (int at = 0; at < LOADS; ++at) {
        held[at].x = __expf(held[at].x - greatest);
        held[at].y = __expf(held[at].y - greatest);
        held[at].z = __expf(held[at].z - greatest);
        held[at].w = __expf(held[at].w - greatest);
        sum += held[at].x + held[at].y + held[at].z + held[at].w;
    }
    Partial mine = joined_in_cta<THREADS / 32>({greatest, sum}, of_warps);
    if (threadIdx.x < CTAS) cluster.map_shared_rank(of_ctas, threadIdx.x)[rank] = mine;
    cluster.sync();
    Partial all = of_ctas[0];
#pragma unroll
    for (int cta = 1; cta < CTAS; ++cta) all = joined(all, of_ctas[cta]);
    float scale = __expf(greatest - all.greatest) / all.sum;
#pragma unroll
    for (int at = 0; at < LOADS; ++at) {
        y[first + at * THREADS] =
            make_float4(held[at].x * scale, held[at].y * scale, held[at].z * scale, held[at].w * scale);
    }
}

// A CTA for a row of so many groups of four numbers.
template <int THREADS>
__global__ __launch_bounds__(THREADS) void read_twice(const float4 *x, float4 *y, int groups) {
    __shared__ Partial of_warps[THREADS / 32];
    x += size_t(blockIdx.x) * groups;
    y += size_t(blockIdx.x) * groups;
    Partial mine = {-INFINITY, 0};
#pragma unroll 4
    for (int at = threadIdx.x; at < groups; at += THREADS) {
        float4 here = x[at];
        float greatest = fmaxf(fmaxf(here.x, here.y), fmaxf(here.z, here.w));
        float sum = __expf(here.x - greatest) + __expf(here.y - greatest) + __expf(here.z - greatest) +
                    __expf(here.w - greatest);
        mine = joined(mine, {greatest, sum});
    }
    Partial all = joined_in_cta<THREADS / 32>(mine, of_warps);
    float scale = 1 / all.sum;
#pragma unroll 4
    for (int at = threadIdx.x; at < groups; at += THREADS) {
        float4 here = x[at];
        y[at] = make_float4(__expf(here.x - all.greatest) * scale, __expf(here.y - all.greatest) * scale,
                            __expf(here.z - all.greatest) * scale, __expf(here.w - all.greatest) * scale);
    }
}
