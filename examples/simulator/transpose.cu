// y = xᵀ in tiles of 32 × 32, with three faults that docs/ptxsim.md finds. PTX: nvcc -ptx -arch=sm_80 -lineinfo

extern "C" __global__ void transpose(const float* x, float* y, int n) {
    __shared__ float tile[32][32];
    const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = x[row * n + column];
    y[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
