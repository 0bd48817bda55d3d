// The statements and their types survive printing and parsing, and a module of kernels verifies.
// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

!lhs = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
!rhs = !region.memref<tensor<?x?xf16, #tiny.dims<["K", "N"]>>, ["N", 1], 128 : i64, true>
!bias = !region.memref<tensor<?xf32, #tiny.dims<["N"]>>, [1], 128 : i64, true>
!out = !region.memref<tensor<?x?xf32, #tiny.dims<["M", "N"]>>, ["N", 1], 128 : i64, true>
!product = tensor<?x?x?xf16, #tiny.dims<["M", "K", "N"]>>
!sum = tensor<?x?xf32, #tiny.dims<["M", "N"]>>
!data = !region.memref<tensor<9xf32>, [1], 128 : i64, true>
!index = !region.memref<tensor<4xi64>, [1], 128 : i64, true>
!updates = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!best = !region.memref<tensor<2xf32>, [1], 128 : i64, true>
!where = !region.memref<tensor<2xi64>, [1], 128 : i64, true>
!status = memref<36xi64, #gpu.address_space<global>>
!row = memref<?xf32, #gpu.address_space<global>>

// CHECK-LABEL: gpu.module @kernels
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {

  // A matrix product: circular buffers of tiles in shared memory, accumulators in registers, a body for each value that is read or made.
  // CHECK-LABEL: gpu.func @matmul
  // CHECK: "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<64x32xf16>, 2 : i64>
  // CHECK: "tgpu.zero"() : () -> !tgpu.acc<tensor<64x64xf32>>
  // CHECK: "tgpu.load_tile"
  // CHECK: "tgpu.yield"
  // CHECK: "tgpu.fma"
  // CHECK: "tgpu.epilogue"
  // CHECK: kinds = ["column"]
  gpu.func @matmul(%x: !lhs {tgpu.name = "X"}, %w: !rhs {tgpu.name = "W"}, %b: !bias {tgpu.name = "bias"}, %y: !out {tgpu.name = "Y"},
      %M: index {tgpu.extent = "M"}, %K: index {tgpu.extent = "K"}, %N: index {tgpu.extent = "N"}) kernel attributes {
      known_block_size = array<i32: 16, 16, 1>, tgpu.grid = ["(N - 1) floordiv 64 + 1", "(M - 1) floordiv 64 + 1", 1],
      tgpu.plan = {scheme = "naive_2x2_per_thread"}} {
    %0 = arith.constant 0 : index
    %bk = arith.constant 32 : index
    %A = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<64x32xf16>, 2 : i64>
    %B = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<32x64xf16>, 2 : i64>
    %zero = "tgpu.zero"() : () -> !tgpu.acc<tensor<64x64xf32>>
    %all = scf.for %k = %0 to %K step %bk iter_args(%acc = %zero) -> (!tgpu.acc<tensor<64x64xf32>>) {
      "tgpu.load_tile"(%A, %0, %0, %0, %k) ({
        %1 = "region.read"(%x) : (!lhs) -> tensor<?x?xf16, #tiny.dims<["M", "K"]>>
        %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<?x?xf16, #tiny.dims<["M", "K"]>>) -> !product
        "tgpu.yield"(%2) : (!product) -> ()
        omp.terminator
      }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = ["rows", "columns"]} : (!tgpu.smem<tensor<64x32xf16>, 2 : i64>, index, index, index, index) -> ()
      "tgpu.load_tile"(%B, %0, %0, %k, %0) ({
        %1 = "region.read"(%w) : (!rhs) -> tensor<?x?xf16, #tiny.dims<["K", "N"]>>
        %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<?x?xf16, #tiny.dims<["K", "N"]>>) -> !product
        "tgpu.yield"(%2) : (!product) -> ()
        omp.terminator
      }) {rows = array<i64: 1>, columns = array<i64: 2>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<32x64xf16>, 2 : i64>, index, index, index, index) -> ()
      gpu.barrier
      %next = "tgpu.fma"(%A, %B, %0, %acc) : (!tgpu.smem<tensor<64x32xf16>, 2 : i64>, !tgpu.smem<tensor<32x64xf16>, 2 : i64>, index, !tgpu.acc<tensor<64x64xf32>>) -> !tgpu.acc<tensor<64x64xf32>>
      scf.yield %next : !tgpu.acc<tensor<64x64xf32>>
    }
    "tgpu.epilogue"(%all, %0, %0, %0) ({
    ^bb0(%s: !sum):
      %1 = "region.read"(%b) : (!bias) -> tensor<?xf32, #tiny.dims<["N"]>>
      %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["N"]>>) -> !sum
      %3 = "tiny.add"(%s, %2) : (!sum, !sum) -> !sum
      "region.yield"(%3, %y) {materialize = "gmem"} : (!sum, !out) -> ()
      omp.terminator
    }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = ["rows", "columns"], kinds = ["column"]} : (!tgpu.acc<tensor<64x64xf32>>, index, index, index) -> ()
    gpu.return
  }

  // A copy that another kernel starts from, and that kernel.
  // CHECK-LABEL: gpu.func @add_init
  // CHECK: "tgpu.map"() ({
  gpu.func @add_init(%x: !data, %i: !index, %u: !updates, %y: !data, %status: !status {tgpu.status}) kernel attributes {
      known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<9xf32>, !data) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
  // CHECK-LABEL: gpu.func @add(
  // CHECK-SAME: tgpu.init = @add_init
  // CHECK: "tgpu.scatter_add"() ({
  gpu.func @add(%x: !data, %i: !index, %u: !updates, %y: !data, %status: !status {tgpu.status}) kernel attributes {
      known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.init = @add_init} {
    "tgpu.scatter_add"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      %1 = "region.read"(%i) : (!index) -> tensor<4xi64>
      %2 = "region.read"(%u) : (!updates) -> tensor<4xf32>
      %3 = "tiny.scatter"(%0, %1, %2) {axis = 0 : i64, op = "add"} : (tensor<9xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<9xf32>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<9xf32>, !data) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @best
  // CHECK: "tgpu.topk"() ({
  gpu.func @best(%x: !data, %v: !best, %i: !where) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "tgpu.topk"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      %1, %2 = "tiny.topk"(%0) {axis = 0 : i64, k = 2 : i64, largest = true} : (tensor<9xf32>) -> (tensor<2xf32>, tensor<2xi64>)
      "region.yield"(%1, %v) {materialize = "gmem"} : (tensor<2xf32>, !best) -> ()
      "region.yield"(%2, %i) {materialize = "gmem"} : (tensor<2xi64>, !where) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }

  // Statements that differ in how threads share the elements of a region.
  // CHECK-LABEL: gpu.func @runs
  // CHECK: "tgpu.share"(%{{.*}}, %{{.*}}) {aligned_to = 4 : i64, operandSegmentSizes = array<i32: 2>, width = 4 : i64}
  // CHECK: "tgpu.map_runs"() ({
  // CHECK: {width = 4 : i64}
  // CHECK: "tgpu.transpose"() ({
  // CHECK: {tile = 32 : i64, width = 4 : i64}
  // CHECK: "tgpu.reduce_rows"() ({
  // CHECK: {lanes = "x", unrolled = true, width = 4 : i64}
  // CHECK: "tgpu.scan_rows"() ({
  // CHECK: {lanes = "x", width = 4 : i64}
  gpu.func @runs(%x: !data, %a: !data, %b: !data, %c: !data, %d: !data) kernel attributes {known_block_size = array<i32: 32, 8, 1>} {
    "tgpu.share"(%x, %x) {aligned_to = 4 : i64, operandSegmentSizes = array<i32: 2>, width = 4 : i64} : (!data, !data) -> ()
    "tgpu.map_runs"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      "region.yield"(%0, %a) {materialize = "gmem"} : (tensor<9xf32>, !data) -> ()
      omp.terminator
    }) {width = 4 : i64} : () -> ()
    "tgpu.transpose"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      "region.yield"(%0, %b) {materialize = "gmem"} : (tensor<9xf32>, !data) -> ()
      omp.terminator
    }) {tile = 32 : i64, width = 4 : i64} : () -> ()
    "tgpu.reduce_rows"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      "region.yield"(%0, %c) {materialize = "gmem"} : (tensor<9xf32>, !data) -> ()
      omp.terminator
    }) {lanes = "x", unrolled = true, width = 4 : i64} : () -> ()
    "tgpu.scan_rows"() ({
      %0 = "region.read"(%x) : (!data) -> tensor<9xf32>
      "region.yield"(%0, %d) {materialize = "gmem"} : (tensor<9xf32>, !data) -> ()
      omp.terminator
    }) {lanes = "x", width = 4 : i64} : () -> ()
    gpu.return
  }

  // What statements become for one thread: rows of elements, and the ops that upstream has no name for.
  // CHECK-LABEL: gpu.func @scalar
  // CHECK: "tgpu.atomic_add"
  // CHECK: "tgpu.report_index"({{.*}}) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 2>}
  // CHECK: %{{.*}}:4 = "tgpu.load_vector"({{.*}}) {resultSegmentSizes = array<i32: 4>}
  // CHECK: "tgpu.store_vector"({{.*}}) {operandSegmentSizes = array<i32: 1, 1, 2>}
  gpu.func @scalar(%y: !row {tgpu.name = "y", tgpu.tensor = tensor<9xf32>}, %status: !status {tgpu.status}) kernel attributes {
      known_block_size = array<i32: 256, 1, 1>} {
    %0 = arith.constant 0 : index
    %1 = arith.constant 1.0 : f32
    "tgpu.atomic_add"(%1, %y, %0) : (f32, !row, index) -> ()
    "tgpu.report_index"(%status, %0, %0, %0, %0) {axis = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 2>} : (!status, index, index, index, index) -> ()
    %2:4 = "tgpu.load_vector"(%y, %0) {resultSegmentSizes = array<i32: 4>} : (!row, index) -> (f32, f32, f32, f32)
    "tgpu.store_vector"(%y, %0, %2#1, %2#3) {operandSegmentSizes = array<i32: 1, 1, 2>} : (!row, index, f32, f32) -> ()
    gpu.return
  }
}
