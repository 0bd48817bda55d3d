// The statements of a product by warps, as scheme `mma` writes it for sm_80, survive printing and parsing.
// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

#loop_unroll = #llvm.loop_unroll<disable = true>
#map = affine_map<(d0) -> (d0)>
#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
!t64x64_f16_memref = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!t64_f16_memref = !region.memref<tensor<64xf16>, [1], 128 : i64, true>
!t64x32_f16_row_64_i64 = tensor<64x32xf16, #tgpu.swizzle<"row", 64 : i64>>
!t64x32_f16_row_64_i64_smem = !tgpu.smem<!t64x32_f16_row_64_i64, 2 : i64>
!t32x64_f16_row_128_i64 = tensor<32x64xf16, #tgpu.swizzle<"row", 128 : i64>>
!t32x64_f16_row_128_i64_smem = !tgpu.smem<!t32x64_f16_row_128_i64, 2 : i64>
!t64x64_f32_mma_32_i64_32_i64 = tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>
!t64x64_f32_mma_32_i64_32_i64_acc = !tgpu.acc<!t64x64_f32_mma_32_i64_32_i64>
!t32x16_f16_frag = !tgpu.frag<tensor<32x16xf16>, "a">
!t16x32_f16_frag = !tgpu.frag<tensor<16x32xf16>, "b">
!t64x64_f16_row_128_i64 = tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>
!t64x64_f16_row_128_i64_smem = !tgpu.smem<!t64x64_f16_row_128_i64, 1 : i64>
// CHECK-LABEL: gpu.func @matmul_add_relu_cast
// CHECK: "tgpu.cp_async"
// CHECK: "tgpu.commit_group"
// CHECK: "tgpu.wait_group"
// CHECK: "tgpu.ldmatrix"
// CHECK: "tgpu.mma_sync"
// CHECK: "tgpu.epilogue_slab"
// CHECK: "tgpu.st_global_vec"
module {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
    gpu.func @matmul_add_relu_cast(%X: !t64x64_f16_memref {tgpu.name = "X"}, %W: !t64x64_f16_memref {tgpu.name = "W"}, %bias: !t64_f16_memref {tgpu.name = "bias"}, %Y: !t64x64_f16_memref {tgpu.name = "Y"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.dynamic_shared_bytes = 16384 : i64, tgpu.grid = [1, 1, 1], tgpu.plan = {algo_choice = {matmul = "implicit_gemm"}, arch = "sm_80", async = {enable = true}, bind = {m.i.o = "warp.y", m.o = "block.y", n.i.o = "warp.x", n.o = "block.x"}, cache = [{at = "k.i", tensor = "X", where = "smem"}, {at = "k.i", tensor = "W", where = "smem"}], cluster = array<i64: 1, 1>, epilogue = ["bias", "relu"], layout_hints = {A_swizzle = true, B_swizzle = true, C_stride = "row"}, local_edges = [{buffer = "reg", from = "sum_k", to = "relu"}], precision = "ieee", predicate_tail = [], raster = {along = "n", group = 1 : i64}, schedule = "simple", scheme = "mma", split_k = 1 : i64, stages = 2 : i64, tile = array<i64: 64, 64, 32>, vectorize = {axis = "n.i.i", width = 8 : i64}, wait_depth = 0 : i64, warp_tile = "32x32"}} {
      %c0 = arith.constant 0 : index
      %block_id_x = gpu.block_id x
      %block_id_z = gpu.block_id z
      %block_id_y = gpu.block_id y
      %c64 = arith.constant 64 : index
      %m = arith.muli %block_id_y, %c64 : index
      %c64_0 = arith.constant 64 : index
      %n = arith.muli %block_id_x, %c64_0 : index
      %A = "tgpu.alloc_smem"() : () -> !t64x32_f16_row_64_i64_smem
      %B = "tgpu.alloc_smem"() : () -> !t32x64_f16_row_128_i64_smem
      %acc = "tgpu.zero"() : () -> !t64x64_f32_mma_32_i64_32_i64_acc
      %c0_1 = arith.constant 0 : index
      %c0_2 = arith.constant 0 : index
      "tgpu.cp_async"(%A, %c0_1, %X, %block_id_z, %m, %c0_2) {batches = [], bytes = 16 : i64, columns = [[64, 1]], clamped = [], guarded = ["columns"], offset = [0], rows = [[64, 64]]} : (!t64x32_f16_row_64_i64_smem, index, !t64x64_f16_memref, index, index, index) -> ()
      "tgpu.cp_async"(%B, %c0_1, %W, %block_id_z, %c0_2, %n) {batches = [], bytes = 16 : i64, columns = [[64, 1]], clamped = [], guarded = ["rows"], offset = [0], rows = [[64, 64]]} : (!t32x64_f16_row_128_i64_smem, index, !t64x64_f16_memref, index, index, index) -> ()
      "tgpu.commit_group"() {kind = "cp_async"} : () -> ()
      %c0_3 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c1 = arith.constant 1 : index
      %c0_4 = arith.constant 0 : index
      %acc_5:2 = scf.for %arg4 = %c0_3 to %c2 step %c1 iter_args(%arg5 = %acc, %arg6 = %c0_4) -> (!t64x64_f32_mma_32_i64_32_i64_acc, index) {
        "tgpu.wait_group"() {kind = "cp_async", operandSegmentSizes = array<i32: 0>, pending = 0 : i64, resultSegmentSizes = array<i32: 0>} : () -> ()
        gpu.barrier
        %c1_6 = arith.constant 1 : index
        %0 = arith.addi %arg6, %c1_6 : index
        %c2_7 = arith.constant 2 : index
        %1 = arith.cmpi uge, %0, %c2_7 : index
        %2 = arith.subi %0, %c2_7 : index
        %stage = arith.select %1, %2, %0 : index
        %c1_8 = arith.constant 1 : index
        %3 = arith.addi %arg4, %c1_8 : index
        %c32 = arith.constant 32 : index
        %4 = arith.muli %3, %c32 : index
        "tgpu.cp_async"(%A, %stage, %X, %block_id_z, %m, %4) {batches = [], bytes = 16 : i64, columns = [[64, 1]], clamped = [], guarded = ["columns"], offset = [0], rows = [[64, 64]]} : (!t64x32_f16_row_64_i64_smem, index, !t64x64_f16_memref, index, index, index) -> ()
        "tgpu.cp_async"(%B, %stage, %W, %block_id_z, %4, %n) {batches = [], bytes = 16 : i64, columns = [[64, 1]], clamped = [], guarded = ["rows"], offset = [0], rows = [[64, 64]]} : (!t32x64_f16_row_128_i64_smem, index, !t64x64_f16_memref, index, index, index) -> ()
        "tgpu.commit_group"() {kind = "cp_async"} : () -> ()
        %5 = "tgpu.ldmatrix"(%A, %arg6) {first = 0 : i64, k = 0 : i64, warps = array<i64: 2, 2>} : (!t64x32_f16_row_64_i64_smem, index) -> !t32x16_f16_frag
        %6 = "tgpu.ldmatrix"(%B, %arg6) {first = 0 : i64, k = 0 : i64, warps = array<i64: 2, 2>} : (!t32x64_f16_row_128_i64_smem, index) -> !t16x32_f16_frag
        %7 = "tgpu.ldmatrix"(%A, %arg6) {first = 0 : i64, k = 16 : i64, warps = array<i64: 2, 2>} : (!t64x32_f16_row_64_i64_smem, index) -> !t32x16_f16_frag
        %8 = "tgpu.ldmatrix"(%B, %arg6) {first = 0 : i64, k = 16 : i64, warps = array<i64: 2, 2>} : (!t32x64_f16_row_128_i64_smem, index) -> !t16x32_f16_frag
        %acc_9 = "tgpu.mma_sync"(%5, %6, %arg5) {column = 0 : i64} : (!t32x16_f16_frag, !t16x32_f16_frag, !t64x64_f32_mma_32_i64_32_i64_acc) -> !t64x64_f32_mma_32_i64_32_i64_acc
        %acc_10 = "tgpu.mma_sync"(%7, %8, %acc_9) {column = 0 : i64} : (!t32x16_f16_frag, !t16x32_f16_frag, !t64x64_f32_mma_32_i64_32_i64_acc) -> !t64x64_f32_mma_32_i64_32_i64_acc
        %c1_11 = arith.constant 1 : index
        %9 = arith.addi %arg6, %c1_11 : index
        %c2_12 = arith.constant 2 : index
        %10 = arith.cmpi uge, %9, %c2_12 : index
        %11 = arith.subi %9, %c2_12 : index
        %stage_13 = arith.select %10, %11, %9 : index
        scf.yield %acc_10, %stage_13 : !t64x64_f32_mma_32_i64_32_i64_acc, index
      } {loop_annotation = #loop_annotation}
      "tgpu.wait_group"() {kind = "cp_async", operandSegmentSizes = array<i32: 0>, pending = 0 : i64, resultSegmentSizes = array<i32: 0>} : () -> ()
      gpu.barrier
      %C = "tgpu.alloc_smem"() {tgpu.overlay} : () -> !t64x64_f16_row_128_i64_smem
      "tgpu.epilogue_slab"(%acc_5#0, %block_id_z, %m, %n, %C, %c0) ({
      ^bb0(%Y_fp32: tensor<64x64xf32>):
        %bias_6 = "region.read"(%bias) : (!t64_f16_memref) -> tensor<64xf16>
        %b0 = "tiny.view"(%bias_6) {map = #map} : (tensor<64xf16>) -> tensor<64xf16>
        %b1 = "tiny.reshape"(%b0) : (tensor<64xf16>) -> tensor<1x64xf16>
        %Yb.cast = "tiny.cast"(%b1) : (tensor<1x64xf16>) -> tensor<1x64xf32>
        %Yb.expand = "tiny.expand"(%Yb.cast) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x64xf32>) -> tensor<64x64xf32>
        %Yb = "tiny.add"(%Y_fp32, %Yb.expand) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
        %Yr = "tiny.relu"(%Yb) : (tensor<64x64xf32>) -> tensor<64x64xf32>
        %Y_7 = "tiny.cast"(%Yr) : (tensor<64x64xf32>) -> tensor<64x64xf16>
        "region.yield"(%Y_7, %Y) {materialize = "gmem"} : (tensor<64x64xf16>, !t64x64_f16_memref) -> ()
        omp.terminator
      }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, slab = array<i64: 0, 32>, pieces = 0 : i64} : (!t64x64_f32_mma_32_i64_32_i64_acc, index, index, index, !t64x64_f16_row_128_i64_smem, index) -> ()
      gpu.barrier
      "tgpu.st_global_vec"(%C, %c0, %Y, %block_id_z, %m, %n) {batches = [], columns = [[64, 1]], guarded = [], offset = [0], rows = [[64, 64]], width = 8 : i64} : (!t64x64_f16_row_128_i64_smem, index, !t64x64_f16_memref, index, index, index) -> ()
      gpu.return
    }
  }
  func.func @main(%X: tensor<64x64xf16> {tiny.name = "X"}, %W: tensor<64x64xf16> {tiny.name = "W"}, %bias: tensor<64xf16> {tiny.name = "bias"}) -> (tensor<64x64xf16> {tiny.name = "Y"}) {
    %0 = "region.launch"() {kernel = @matmul_add_relu_cast} : () -> ((tensor<64x64xf16>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<64x64xf16>)
    %Y = call_indirect %0(%X, %W, %bias) : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<64x64xf16>
    return %Y : tensor<64x64xf16>
  }
}
