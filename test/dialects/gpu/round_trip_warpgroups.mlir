// The statements of a product by specialised warpgroups, as scheme `mma` writes it for sm_90a, and the scalar level's own ops survive printing and parsing.
// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

#loop_unroll = #llvm.loop_unroll<disable = true>
#map = affine_map<(d0) -> (d0)>
#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
!t64_f16_memref = !region.memref<tensor<64xf16>, [1], 128 : i64, true>
!t256x64_f16_memref = !region.memref<tensor<256x64xf16>, [64, 1], 128 : i64, true>
!t128x64_f16_row_128_i64 = tensor<128x64xf16, #tgpu.swizzle<"row", 128 : i64>>
!t128x64_f16_row_128_i64_smem = !tgpu.smem<!t128x64_f16_row_128_i64, 2 : i64>
!t64x64_f16_row_128_i64 = tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>
!t64x64_f16_row_128_i64_smem = !tgpu.smem<!t64x64_f16_row_128_i64, 2 : i64>
!t64x64_f16_row_128_i64_smem_1 = !tgpu.smem<!t64x64_f16_row_128_i64, 4 : i64>
!t64x64_f32_wgmma_64_i64_64_i64 = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!t64x64_f32_wgmma_64_i64_64_i64_acc = !tgpu.acc<!t64x64_f32_wgmma_64_i64_64_i64>
!t64x64_f32_wgmma_64_i64_64_i64_in_flight = !tgpu.in_flight<!t64x64_f32_wgmma_64_i64_64_i64>
// CHECK-LABEL: gpu.func @matmul_add_relu_cast
// CHECK: "tgpu.mbarrier_init"
// CHECK: "tgpu.cluster_barrier"() {relaxed = true}
// CHECK: "tgpu.warpgroups"
// CHECK: "tgpu.mbarrier_wait"
// CHECK: "tgpu.mbarrier_expect_tx"
// CHECK: "tgpu.tma_load"
// CHECK: "tgpu.wgmma"
// CHECK: "tgpu.wait_group"
// CHECK: "tgpu.mbarrier_arrive"
// CHECK: "tgpu.epilogue_slab"
// CHECK: "tgpu.fence_async"
// CHECK: "tgpu.named_barrier"
// CHECK: "tgpu.tma_store"
module {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    gpu.func @matmul_add_relu_cast(%X: !region.memref<tensor<256x128xf16>, [128, 1], 128 : i64, true> {tgpu.name = "X"}, %W: !region.memref<tensor<128x64xf16>, [64, 1], 128 : i64, true> {tgpu.name = "W"}, %bias: !t64_f16_memref {tgpu.name = "bias"}, %Y: !t256x64_f16_memref {tgpu.name = "Y"}, %arg4: !tgpu.tensor_map {tgpu.tensor_map = {box = [64, 128], buffer = 0 : i64, dims = [128, 256], strides = [256], swizzle = 128 : i64}}, %arg5: !tgpu.tensor_map {tgpu.tensor_map = {box = [64, 32], buffer = 1 : i64, dims = [64, 128], strides = [128], swizzle = 128 : i64}}, %arg6: !tgpu.tensor_map {tgpu.tensor_map = {box = [64, 64], buffer = 3 : i64, dims = [64, 256], strides = [128], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 384, 1, 1>, tgpu.cluster = array<i32: 2, 1, 1>, tgpu.dynamic_shared_bytes = 81952 : i64, tgpu.grid = [2, 1, 1], tgpu.plan = {algo_choice = {matmul = "implicit_gemm"}, arch = "sm_90a", async = {enable = true}, bind = {m.i.o = "warp.y", n.i.o = "warp.x", t = "block.x"}, cache = [{at = "k.i", tensor = "X", where = "smem"}, {at = "k.i", tensor = "W", where = "smem"}], cluster = array<i64: 2, 1>, epilogue = ["bias", "relu"], fuse = [["m.o", "n.o", "t"]], layout_hints = {A_swizzle = true, B_swizzle = true, C_stride = "row"}, local_edges = [{buffer = "reg", from = "sum_k", to = "relu"}], precision = "ieee", predicate_tail = [], raster = {along = "n", group = 1 : i64}, registers = array<i64: 40, 232>, schedule = "cooperative", scheme = "mma", split_k = 1 : i64, stages = 2 : i64, tile = array<i64: 128, 64, 64>, vectorize = {axis = "n.i.i", width = 8 : i64}, wait_depth = 0 : i64, warp_tile = "64x64"}} {
      %A = "tgpu.alloc_smem"() : () -> !t128x64_f16_row_128_i64_smem
      %B = "tgpu.alloc_smem"() : () -> !t64x64_f16_row_128_i64_smem
      %C = "tgpu.alloc_smem"() : () -> !t64x64_f16_row_128_i64_smem_1
      %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<2 : i64>
      %empty = "tgpu.mbarrier_init"() {arrivals = 16 : i64} : () -> !tgpu.mbarrier<2 : i64>
      "tgpu.cluster_barrier"() {relaxed = true} : () -> ()
      "tgpu.warpgroups"() ({
      ^bb0(%warpgroup: index):
        %block_id_x = gpu.block_id x
        %0 = arith.index_cast %block_id_x : index to i32
        %c1_i32 = arith.constant 1 : i32
        %1 = arith.shrui %0, %c1_i32 : i32
        %grid_dim_x = gpu.grid_dim x
        %2 = arith.index_cast %grid_dim_x : index to i32
        %c1_i32_0 = arith.constant 1 : i32
        %3 = arith.shrui %2, %c1_i32_0 : i32
        %c0_i32 = arith.constant 0 : i32
        %c0_i32_1 = arith.constant 0 : i32
        %c1_i32_2 = arith.constant 1 : i32
        %4:2 = scf.for %arg8 = %1 to %c1_i32_2 step %3 iter_args(%arg9 = %c0_i32, %arg10 = %c0_i32_1) -> (i32, i32)  : i32 {
          %block_id_x_3 = gpu.block_id x
          %5 = arith.index_cast %block_id_x_3 : index to i32
          %c1_i32_4 = arith.constant 1 : i32
          %6 = arith.andi %5, %c1_i32_4 : i32
          %c256_i32 = arith.constant 256 : i32
          %7 = arith.muli %arg8, %c256_i32 : i32
          %c128_i32 = arith.constant 128 : i32
          %8 = arith.muli %6, %c128_i32 : i32
          %9 = arith.addi %7, %8 : i32
          %c0_i32_5 = arith.constant 0 : i32
          %c2_i32 = arith.constant 2 : i32
          %c1_i32_6 = arith.constant 1 : i32
          %10:2 = scf.for %arg11 = %c0_i32_5 to %c2_i32 step %c1_i32_6 iter_args(%arg12 = %arg9, %arg13 = %arg10) -> (i32, i32)  : i32 {
            %11 = arith.index_cast %arg12 : i32 to index
            %c64_i32 = arith.constant 64 : i32
            %12 = arith.muli %arg11, %c64_i32 : i32
            %c1_i32_7 = arith.constant 1 : i32
            %13 = arith.xori %arg13, %c1_i32_7 : i32
            "tgpu.mbarrier_wait"(%empty, %11, %13) : (!tgpu.mbarrier<2 : i64>, index, i32) -> ()
            "tgpu.mbarrier_expect_tx"(%full, %11) {bytes = 24576 : i64} : (!tgpu.mbarrier<2 : i64>, index) -> ()
            %14 = arith.index_cast %12 : i32 to index
            %15 = arith.index_cast %9 : i32 to index
            "tgpu.tma_load"(%A, %11, %full, %arg4, %14, %15) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!t128x64_f16_row_128_i64_smem, index, !tgpu.mbarrier<2 : i64>, !tgpu.tensor_map, index, index) -> ()
            %c0 = arith.constant 0 : index
            %16 = arith.index_cast %12 : i32 to index
            "tgpu.tma_load"(%B, %11, %full, %arg5, %c0, %16) {multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!t64x64_f16_row_128_i64_smem, index, !tgpu.mbarrier<2 : i64>, !tgpu.tensor_map, index, index) -> ()
            %c1_i32_8 = arith.constant 1 : i32
            %17 = arith.addi %arg12, %c1_i32_8 : i32
            %c2_i32_9 = arith.constant 2 : i32
            %18 = arith.cmpi uge, %17, %c2_i32_9 : i32
            %c2_i32_10 = arith.constant 2 : i32
            %19 = arith.subi %17, %c2_i32_10 : i32
            %20 = arith.select %18, %19, %17 : i32
            %c1_i32_11 = arith.constant 1 : i32
            %c0_i32_12 = arith.constant 0 : i32
            %21 = arith.select %18, %c1_i32_11, %c0_i32_12 : i32
            %22 = arith.xori %arg13, %21 : i32
            scf.yield %20, %22 : i32, i32
          } {loop_annotation = #loop_annotation}
          scf.yield %10#0, %10#1 : i32, i32
        } {loop_annotation = #loop_annotation}
        omp.terminator
      }) {count = 1 : i64, first = 0 : i64, one_thread = true, registers = 40 : i64} : () -> ()
      "tgpu.warpgroups"() ({
      ^bb0(%warpgroup: index):
        %0 = arith.index_cast %warpgroup : index to i32
        %block_id_x = gpu.block_id x
        %1 = arith.index_cast %block_id_x : index to i32
        %c1_i32 = arith.constant 1 : i32
        %2 = arith.shrui %1, %c1_i32 : i32
        %grid_dim_x = gpu.grid_dim x
        %3 = arith.index_cast %grid_dim_x : index to i32
        %c1_i32_0 = arith.constant 1 : i32
        %4 = arith.shrui %3, %c1_i32_0 : i32
        %c0_i32 = arith.constant 0 : i32
        %c0_i32_1 = arith.constant 0 : i32
        %c1_i32_2 = arith.constant 1 : i32
        %5:2 = scf.for %arg8 = %2 to %c1_i32_2 step %4 iter_args(%arg9 = %c0_i32, %arg10 = %c0_i32_1) -> (i32, i32)  : i32 {
          %block_id_x_3 = gpu.block_id x
          %6 = arith.index_cast %block_id_x_3 : index to i32
          %c1_i32_4 = arith.constant 1 : i32
          %7 = arith.andi %6, %c1_i32_4 : i32
          %c256_i32 = arith.constant 256 : i32
          %8 = arith.muli %arg8, %c256_i32 : i32
          %c128_i32 = arith.constant 128 : i32
          %9 = arith.muli %7, %c128_i32 : i32
          %10 = arith.addi %8, %9 : i32
          %c64_i32 = arith.constant 64 : i32
          %11 = arith.muli %0, %c64_i32 : i32
          %12 = arith.index_cast %11 : i32 to index
          %c0 = arith.constant 0 : index
          %acc = "tgpu.zero"() : () -> !t64x64_f32_wgmma_64_i64_64_i64_acc
          %c0_i32_5 = arith.constant 0 : i32
          %c2_i32 = arith.constant 2 : i32
          %c1_i32_6 = arith.constant 1 : i32
          %13:3 = scf.for %arg11 = %c0_i32_5 to %c2_i32 step %c1_i32_6 iter_args(%arg12 = %acc, %arg13 = %arg9, %arg14 = %arg10) -> (!t64x64_f32_wgmma_64_i64_64_i64_acc, i32, i32)  : i32 {
            %23 = arith.index_cast %arg13 : i32 to index
            "tgpu.mbarrier_wait"(%full, %23, %arg14) : (!tgpu.mbarrier<2 : i64>, index, i32) -> ()
            %c0_i32_10 = arith.constant 0 : i32
            %24 = arith.cmpi ne, %arg11, %c0_i32_10 : i32
            %acc_11 = "tgpu.wgmma"(%A, %B, %23, %12, %c0, %24, %arg12) : (!t128x64_f16_row_128_i64_smem, !t64x64_f16_row_128_i64_smem, index, index, index, i1, !t64x64_f32_wgmma_64_i64_64_i64_acc) -> !t64x64_f32_wgmma_64_i64_64_i64_in_flight
            "tgpu.commit_group"() {kind = "wgmma"} : () -> ()
            %acc_12 = "tgpu.wait_group"(%acc_11) {kind = "wgmma", operandSegmentSizes = array<i32: 1>, pending = 0 : i64, resultSegmentSizes = array<i32: 1>} : (!t64x64_f32_wgmma_64_i64_64_i64_in_flight) -> !t64x64_f32_wgmma_64_i64_64_i64_acc
            "tgpu.mbarrier_arrive"(%empty, %23) {ctas = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!tgpu.mbarrier<2 : i64>, index) -> ()
            %c1_i32_13 = arith.constant 1 : i32
            %25 = arith.addi %arg13, %c1_i32_13 : i32
            %c2_i32_14 = arith.constant 2 : i32
            %26 = arith.cmpi uge, %25, %c2_i32_14 : i32
            %c2_i32_15 = arith.constant 2 : i32
            %27 = arith.subi %25, %c2_i32_15 : i32
            %28 = arith.select %26, %27, %25 : i32
            %c1_i32_16 = arith.constant 1 : i32
            %c0_i32_17 = arith.constant 0 : i32
            %29 = arith.select %26, %c1_i32_16, %c0_i32_17 : i32
            %30 = arith.xori %arg14, %29 : i32
            scf.yield %acc_12, %28, %30 : !t64x64_f32_wgmma_64_i64_64_i64_acc, i32, i32
          } {loop_annotation = #loop_annotation}
          %c0_7 = arith.constant 0 : index
          %14 = arith.addi %10, %11 : i32
          %15 = arith.index_cast %14 : i32 to index
          %c0_8 = arith.constant 0 : index
          %c2_i32_9 = arith.constant 2 : i32
          %16 = arith.muli %0, %c2_i32_9 : i32
          %17 = arith.index_cast %16 : i32 to index
          "tgpu.epilogue_slab"(%13#0, %c0_7, %15, %c0_8, %C, %17) ({
          ^bb0(%Y_fp32: tensor<256x64xf32>):
            %bias_10 = "region.read"(%bias) : (!t64_f16_memref) -> tensor<64xf16>
            %b0 = "tiny.view"(%bias_10) {map = #map} : (tensor<64xf16>) -> tensor<64xf16>
            %b1 = "tiny.reshape"(%b0) : (tensor<64xf16>) -> tensor<1x64xf16>
            %Yb.cast = "tiny.cast"(%b1) : (tensor<1x64xf16>) -> tensor<1x64xf32>
            %Yb.expand = "tiny.expand"(%Yb.cast) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x64xf32>) -> tensor<256x64xf32>
            %Yb = "tiny.add"(%Y_fp32, %Yb.expand) : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
            %Yr = "tiny.relu"(%Yb) : (tensor<256x64xf32>) -> tensor<256x64xf32>
            %Y_11 = "tiny.cast"(%Yr) : (tensor<256x64xf32>) -> tensor<256x64xf16>
            "region.yield"(%Y_11, %Y) {materialize = "gmem"} : (tensor<256x64xf16>, !t256x64_f16_memref) -> ()
            omp.terminator
          }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, slab = array<i64: 0, 64>, pieces = 0 : i64} : (!t64x64_f32_wgmma_64_i64_64_i64_acc, index, index, index, !t64x64_f16_row_128_i64_smem_1, index) -> ()
          "tgpu.fence_async"() : () -> ()
          "tgpu.wait_group"() {kind = "bulk", operandSegmentSizes = array<i32: 0>, pending = 0 : i64, resultSegmentSizes = array<i32: 0>} : () -> ()
          "tgpu.named_barrier"() {id = 1 : i64, threads = 128 : i64} : () -> ()
          %18 = arith.index_cast %c0_8 : index to i32
          %19 = arith.index_cast %c0_7 : index to i32
          %20 = arith.index_cast %15 : index to i32
          %21 = arith.index_cast %18 : i32 to index
          %22 = arith.index_cast %20 : i32 to index
          "tgpu.tma_store"(%C, %17, %Y, %arg6, %21, %22) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!t64x64_f16_row_128_i64_smem_1, index, !t256x64_f16_memref, !tgpu.tensor_map, index, index) -> ()
          "tgpu.commit_group"() {kind = "bulk"} : () -> ()
          scf.yield %13#1, %13#2 : i32, i32
        } {loop_annotation = #loop_annotation}
        "tgpu.wait_group"() {kind = "bulk", operandSegmentSizes = array<i32: 0>, pending = -1 : i64, resultSegmentSizes = array<i32: 0>} : () -> ()
        omp.terminator
      }) {count = 2 : i64, first = 1 : i64, one_thread = false, registers = 232 : i64} : () -> ()
      "tgpu.cluster_barrier"() {relaxed = false} : () -> ()
      gpu.return
    }
    // CHECK-LABEL: gpu.func @scalar
    // CHECK: "tgpu.address"
    // CHECK: "tgpu.map_address"
    // CHECK: "tgpu.instruction"
    gpu.func @scalar(%x: memref<?xf16, #gpu.address_space<global>>, %map: !tgpu.tensor_map {tgpu.tensor_map = {
        box = [64], buffer = 0 : i64, dims = [64], strides = [], swizzle = 0 : i64}}) kernel attributes {
        known_block_size = array<i32: 32, 1, 1>, tgpu.grid = [1, 1, 1]} {
      %i = arith.constant 0 : index
      %word = arith.constant 0 : i32
      %at = "tgpu.address"(%x, %i) : (memref<?xf16, #gpu.address_space<global>>, index) -> i64
      %where = "tgpu.map_address"(%map) : (!tgpu.tensor_map) -> i64
      %a:4 = "tgpu.instruction"(%word) {instruction_name = "ldmatrix.x4", operandSegmentSizes = array<i32: 0, 0, 1, 0>,
          resultSegmentSizes = array<i32: 4>} : (i32) -> (i32, i32, i32, i32)
      gpu.return
    }
  }
  func.func @main(%X: tensor<256x128xf16> {tiny.name = "X"}, %W: tensor<128x64xf16> {tiny.name = "W"}, %bias: tensor<64xf16> {tiny.name = "bias"}) -> (tensor<256x64xf16> {tiny.name = "Y"}) {
    %0 = "region.launch"() {kernel = @matmul_add_relu_cast} : () -> ((tensor<256x128xf16>, tensor<128x64xf16>, tensor<64xf16>) -> tensor<256x64xf16>)
    %Y = call_indirect %0(%X, %W, %bias) : (tensor<256x128xf16>, tensor<128x64xf16>, tensor<64xf16>) -> tensor<256x64xf16>
    return %Y : tensor<256x64xf16>
  }
}
