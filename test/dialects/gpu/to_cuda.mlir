// Kernels as CUDA C++: readable names, loops and branches; what a loop carries is a variable.
// RUN: tinyc-opt %s --split-input-file --gpu-to-cuda | filecheck %s

!vector = !region.memref<tensor<?xf16, #tiny.dims<["N"]>>, [1], 128 : i64, true>

// One thread for each element, a guarded read as `? :`, conversions of f16.
// CHECK-LABEL: nvcc -O3 -gencode arch=compute_90a,code=sm_90a
// CHECK: #include <cuda_fp16.h>
// CHECK: __global__ void __launch_bounds__(256) shifted(
// CHECK-SAME: const half* __restrict__ X, half* __restrict__ Y, int64_t N) {
// CHECK: const int64_t tx = threadIdx.x;
// CHECK: // map: one element for each thread at a time
// CHECK: for (int64_t n = bx * 256 + tx; n < N; n += grid_x * 256) {
// CHECK: const int64_t n0 = n - 1;
// CHECK: Y[n] = __float2half_rn(-(0 <= n0 && n0 < N ? __half2float(X[n0]) : 0.f));
// CHECK-NOT: int main
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  gpu.func @shifted(%x: !vector {tgpu.name = "X"}, %y: !vector {tgpu.name = "Y"}, %n: index {tgpu.extent = "N"}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["(N - 1) floordiv 256 + 1", 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!vector) -> tensor<?xf16, #tiny.dims<["N"]>>
      %1 = "tiny.pad"(%0) {lo = array<i64: 1>, hi = array<i64: 0>, value = 0.0 : f16} : (tensor<?xf16, #tiny.dims<["N"]>>) -> tensor<?xf16, #tiny.dims<["N + 1"]>>
      %2 = "tiny.shrink"(%1) {lo = [0], hi = ["N"], step = array<i64: 1>} : (tensor<?xf16, #tiny.dims<["N + 1"]>>) -> tensor<?xf16, #tiny.dims<["N"]>>
      %3 = "tiny.neg"(%2) : (tensor<?xf16, #tiny.dims<["N"]>>) -> tensor<?xf16, #tiny.dims<["N"]>>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<?xf16, #tiny.dims<["N"]>>, !vector) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

!matrix = !region.memref<tensor<8x5xi32>, [5, 1], 128 : i64, true>
!vector = !region.memref<tensor<8xi32>, [1], 128 : i64, true>

// A sum is a variable; integers wrap around. The program has a main, with a loop on the CPU and the sizes that are known.
// CHECK-LABEL: nvcc -O3 -arch=sm_80
// CHECK: T wrapping_add(T a, T b)
// CHECK: __global__ void __launch_bounds__(256) total(
// CHECK: int32_t acc = 0;
// CHECK: for (int64_t j = 0; j < 5; ++j) {
// CHECK: acc = wrapping_add(acc, x[at + j]);
// CHECK: y[i] = acc;
// CHECK: static void total_reference(
// CHECK: int main(
// CHECK: std::vector<int32_t> x(40);
// CHECK: total<<<grid, dim3(256, 1, 1)>>>(d_x, d_y);
// CHECK: total_reference(x.data(), y_expected.data());
// CHECK: max_abs_err=%.6f
// CHECK-NOT: gpu.module
// CHECK-NOT: region.launch
gpu.module @kernels {
  gpu.func @total(%x: !matrix {tgpu.name = "x"}, %y: !vector {tgpu.name = "y"}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!matrix) -> tensor<8x5xi32>
      %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<8x5xi32>) -> tensor<8xi32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<8xi32>, !vector) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}
func.func @main(%x: tensor<8x5xi32> {tiny.name = "x"}) -> (tensor<8xi32> {tiny.name = "y"}) {
  %k = "region.launch"() {kernel = @total} : () -> ((tensor<8x5xi32>) -> tensor<8xi32>)
  %0 = call_indirect %k(%x) : (tensor<8x5xi32>) -> tensor<8xi32>
  return %0 : tensor<8xi32>
}

// -----

// Neighbouring elements have one name, and lanes of a warp exchange values.
// CHECK-LABEL: nvcc -O3 -arch=sm_80
// CHECK: struct alignas(N * sizeof(T)) wide {
// CHECK: wide<T, N> load_wide(const T* place)
// CHECK: void store_wide(T* place, Elements... elements)
// CHECK: __global__ void __launch_bounds__(32) exchange(const half* __restrict__ x, half* __restrict__ y) {
// CHECK: __shared__ __align__(16) half tile_tile[64];
// CHECK: const auto x_value = load_wide<2>(&x[thread_x]);
// CHECK: const float v = __shfl_xor_sync(0xffffffffu, __half2float(x_value.at[0]), 1);
// CHECK: store_wide(&tile_tile[thread_x], x_value.at[1], __float2half_rn(v));
// CHECK: __syncthreads();
// CHECK: const auto tile = load_wide<2>(&tile_tile[thread_x]);
// CHECK: store_wide(&y[thread_x], tile.at[0], tile.at[1]);
!row = memref<?xf16, #gpu.address_space<global>>
!tile = memref<64xf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  memref.global "private" @tile : !tile = uninitialized
  gpu.func @exchange(%x: !row {tgpu.name = "x"}, %y: !row {tgpu.name = "y"}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = memref.get_global @tile : !tile
    %i = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : i32
    %warp = arith.constant 32 : i32
    %p = arith.muli %i, %c2 : index
    %0:2 = "tgpu.load_vector"(%x, %p) {resultSegmentSizes = array<i32: 2>} : (!row, index) -> (f16, f16)
    %1 = arith.extf %0#0 : f16 to f32
    %2, %none = gpu.shuffle xor %1, %c1, %warp : f32
    %3 = arith.truncf %2 : f32 to f16
    "tgpu.store_vector"(%t, %p, %0#1, %3) {operandSegmentSizes = array<i32: 1, 1, 2>} : (!tile, index, f16, f16) -> ()
    gpu.barrier
    %4:2 = "tgpu.load_vector"(%t, %p) {resultSegmentSizes = array<i32: 2>} : (!tile, index) -> (f16, f16)
    "tgpu.store_vector"(%y, %p, %4#0, %4#1) {operandSegmentSizes = array<i32: 1, 1, 2>} : (!row, index, f16, f16) -> ()
    gpu.return
  }
}

// -----

// Buffers that may be one memory are not restricted.
// CHECK: add(const float* x, const float* __restrict__ z, float* y) {
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @add(%x: !buffer {tgpu.name = "x"}, %z: !buffer {tgpu.name = "z"}, %y: !buffer {tgpu.name = "y"}) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.in_place = [array<i64: 0, 2>]} {
    "tgpu.map_runs"() ({
      %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
      %1 = "region.read"(%z) : (!buffer) -> tensor<4xf32>
      %2 = "tiny.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
      omp.terminator
    }) {width = 1 : i64} : () -> ()
    gpu.return
  }
}
