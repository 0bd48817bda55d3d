// The statements of a product whose operand A warpgroups make in registers, as scheme `mma` writes it, survive printing and parsing.
// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

#loop_unroll = #llvm.loop_unroll<disable = true>
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
!t64x64_f16_memref = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!t64_f16_memref = !region.memref<tensor<64xf16>, [1], 128 : i64, true>
!t64x32_i8_row_32_i64 = tensor<64x32xi8, #tgpu.swizzle<"row", 32 : i64>>
!t64x32_i8_row_32_i64_smem = !tgpu.smem<!t64x32_i8_row_32_i64, 2 : i64>
!t32x64_f16_row_128_i64 = tensor<32x64xf16, #tgpu.swizzle<"row", 128 : i64>>
!t32x64_f16_row_128_i64_smem = !tgpu.smem<!t32x64_f16_row_128_i64, 2 : i64>
!t64x64_f16_row_128_i64 = tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>
!t64x64_f16_row_128_i64_smem = !tgpu.smem<!t64x64_f16_row_128_i64, 2 : i64>
!t64x64_f32_wgmma_64_i64_64_i64 = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!t64x64_f32_wgmma_64_i64_64_i64_acc = !tgpu.acc<!t64x64_f32_wgmma_64_i64_64_i64>
!t64x16_f16_frag = !tgpu.frag<tensor<64x16xf16>, "a">
!t64x64_f32_wgmma_64_i64_64_i64_in_flight = !tgpu.in_flight<!t64x64_f32_wgmma_64_i64_64_i64>
// CHECK-LABEL: gpu.func @matmul_add_relu_cast
// CHECK: "tgpu.load_fragment"
// CHECK: "tiny.cast"
// CHECK: "tgpu.yield"
// CHECK: "tgpu.wgmma_fragment"
// CHECK: "tgpu.warp_barrier"
module {
  gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
    gpu.func @matmul_add_relu_cast(%X: !region.memref<tensor<64x64xi8>, [64, 1], 128 : i64, true> {tgpu.name = "X"}, %W: !t64x64_f16_memref {tgpu.name = "W"}, %bias: !t64_f16_memref {tgpu.name = "bias"}, %Y: !t64x64_f16_memref {tgpu.name = "Y"}, %arg4: !tgpu.tensor_map {tgpu.tensor_map = {box = [32, 64], buffer = 0 : i64, dims = [64, 64], strides = [64], swizzle = 32 : i64}}, %arg5: !tgpu.tensor_map {tgpu.tensor_map = {box = [64, 32], buffer = 1 : i64, dims = [64, 64], strides = [128], swizzle = 128 : i64}}, %arg6: !tgpu.tensor_map {tgpu.tensor_map = {box = [64, 64], buffer = 3 : i64, dims = [64, 64], strides = [128], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.dynamic_shared_bytes = 28704 : i64, tgpu.grid = [1, 1, 1], tgpu.plan = {algo_choice = {matmul = "implicit_gemm"}, arch = "sm_90a", async = {enable = true}, bind = {m.i.o = "warp.y", n.i.o = "warp.x", t = "block.x"}, cache = [{at = "k.i", tensor = "X", where = "smem"}, {at = "k.i", tensor = "W", where = "smem"}], cluster = array<i64: 1, 1>, epilogue = ["bias", "relu"], fuse = [["m.o", "n.o", "t"]], layout_hints = {A_swizzle = true, B_swizzle = true, C_stride = "row"}, local_edges = [{buffer = "reg", from = "sum_k", to = "relu"}], precision = "ieee", predicate_tail = [], raster = {along = "n", group = 1 : i64}, registers = array<i64: 40, 232>, schedule = "cooperative", scheme = "mma", split_k = 1 : i64, stages = 2 : i64, tile = array<i64: 64, 64, 32>, vectorize = {axis = "n.i.i", width = 8 : i64}, wait_depth = 0 : i64, warp_tile = "64x64"}} {
      %A = "tgpu.alloc_smem"() : () -> !t64x32_i8_row_32_i64_smem
      %B = "tgpu.alloc_smem"() : () -> !t32x64_f16_row_128_i64_smem
      %C = "tgpu.alloc_smem"() : () -> !t64x64_f16_row_128_i64_smem
      %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<2 : i64>
      %empty = "tgpu.mbarrier_init"() {arrivals = 4 : i64} : () -> !tgpu.mbarrier<2 : i64>
      gpu.barrier
      "tgpu.warpgroups"() ({
      ^bb0(%warpgroup: index):
        %block_id_x = gpu.block_id x
        %0 = arith.index_cast %block_id_x : index to i32
        %grid_dim_x = gpu.grid_dim x
        %1 = arith.index_cast %grid_dim_x : index to i32
        %c0_i32 = arith.constant 0 : i32
        %c0_i32_0 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %2:2 = scf.for %arg8 = %0 to %c1_i32 step %1 iter_args(%arg9 = %c0_i32, %arg10 = %c0_i32_0) -> (i32, i32)  : i32 {
          %block_id_x_1 = gpu.block_id x
          %3 = arith.index_cast %block_id_x_1 : index to i32
          %c64_i32 = arith.constant 64 : i32
          %4 = arith.muli %arg8, %c64_i32 : i32
          %c0_i32_2 = arith.constant 0 : i32
          %c2_i32 = arith.constant 2 : i32
          %c1_i32_3 = arith.constant 1 : i32
          %5:2 = scf.for %arg11 = %c0_i32_2 to %c2_i32 step %c1_i32_3 iter_args(%arg12 = %arg9, %arg13 = %arg10) -> (i32, i32)  : i32 {
            %6 = arith.index_cast %arg12 : i32 to index
            %c32_i32 = arith.constant 32 : i32
            %7 = arith.muli %arg11, %c32_i32 : i32
            %c1_i32_4 = arith.constant 1 : i32
            %8 = arith.xori %arg13, %c1_i32_4 : i32
            "tgpu.mbarrier_wait"(%empty, %6, %8) : (!tgpu.mbarrier<2 : i64>, index, i32) -> ()
            "tgpu.mbarrier_expect_tx"(%full, %6) {bytes = 6144 : i64} : (!tgpu.mbarrier<2 : i64>, index) -> ()
            %9 = arith.index_cast %7 : i32 to index
            %10 = arith.index_cast %4 : i32 to index
            "tgpu.tma_load"(%A, %6, %full, %arg4, %9, %10) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!t64x32_i8_row_32_i64_smem, index, !tgpu.mbarrier<2 : i64>, !tgpu.tensor_map, index, index) -> ()
            %c0 = arith.constant 0 : index
            %11 = arith.index_cast %7 : i32 to index
            "tgpu.tma_load"(%B, %6, %full, %arg5, %c0, %11) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!t32x64_f16_row_128_i64_smem, index, !tgpu.mbarrier<2 : i64>, !tgpu.tensor_map, index, index) -> ()
            %c1_i32_5 = arith.constant 1 : i32
            %12 = arith.addi %arg12, %c1_i32_5 : i32
            %c2_i32_6 = arith.constant 2 : i32
            %13 = arith.cmpi uge, %12, %c2_i32_6 : i32
            %c1_i32_7 = arith.constant 1 : i32
            %14 = arith.subi %arg12, %c1_i32_7 : i32
            %c1_i32_8 = arith.constant 1 : i32
            %15 = arith.addi %arg12, %c1_i32_8 : i32
            %16 = arith.select %13, %14, %15 : i32
            %c1_i32_9 = arith.constant 1 : i32
            %c0_i32_10 = arith.constant 0 : i32
            %17 = arith.select %13, %c1_i32_9, %c0_i32_10 : i32
            %18 = arith.xori %arg13, %17 : i32
            scf.yield %16, %18 : i32, i32
          } {loop_annotation = #loop_annotation}
          scf.yield %5#0, %5#1 : i32, i32
        } {loop_annotation = #loop_annotation}
        omp.terminator
      }) {count = 1 : i64, first = 0 : i64, one_thread = true, registers = 40 : i64} : () -> ()
      "tgpu.warpgroups"() ({
      ^bb0(%warpgroup: index):
        %0 = arith.index_cast %warpgroup : index to i32
        %block_id_x = gpu.block_id x
        %1 = arith.index_cast %block_id_x : index to i32
        %grid_dim_x = gpu.grid_dim x
        %2 = arith.index_cast %grid_dim_x : index to i32
        %c0_i32 = arith.constant 0 : i32
        %c0_i32_0 = arith.constant 0 : i32
        %c0_i32_1 = arith.constant 0 : i32
        %c1_i32 = arith.constant 1 : i32
        %3:3 = scf.for %arg8 = %1 to %c1_i32 step %2 iter_args(%arg9 = %c0_i32, %arg10 = %c0_i32_0, %arg11 = %c0_i32_1) -> (i32, i32, i32)  : i32 {
          %block_id_x_2 = gpu.block_id x
          %4 = arith.index_cast %block_id_x_2 : index to i32
          %c64_i32 = arith.constant 64 : i32
          %5 = arith.muli %arg8, %c64_i32 : i32
          %c64_i32_3 = arith.constant 64 : i32
          %6 = arith.muli %0, %c64_i32_3 : i32
          %c0 = arith.constant 0 : index
          %7 = arith.addi %5, %6 : i32
          %8 = arith.index_cast %7 : i32 to index
          %c0_4 = arith.constant 0 : index
          %c0_5 = arith.constant 0 : index
          %9 = arith.index_cast %5 : i32 to index
          %c0_6 = arith.constant 0 : index
          %acc = "tgpu.zero"() : () -> !t64x64_f32_wgmma_64_i64_64_i64_acc
          %10 = arith.index_cast %6 : i32 to index
          %c0_7 = arith.constant 0 : index
          %11 = arith.index_cast %arg9 : i32 to index
          "tgpu.mbarrier_wait"(%full, %11, %arg10) : (!tgpu.mbarrier<2 : i64>, index, i32) -> ()
          %c0_8 = arith.constant 0 : index
          %a = "tgpu.load_fragment"(%A, %11, %c0_5, %9, %c0_8, %10) ({
          ^bb0(%X_13: tensor<64x64xi8>):
            %Xs = "tiny.view"(%X_13) {map = #map} : (tensor<64x64xi8>) -> tensor<64x64xi8>
            %X0 = "tiny.cast"(%Xs) : (tensor<64x64xi8>) -> tensor<64x64xf16>
            %X1 = "tiny.reshape"(%X0) : (tensor<64x64xf16>) -> tensor<64x1x64xf16>
            %P.expand = "tiny.expand"(%X1) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<64x1x64xf16>) -> tensor<64x64x64xf16>
            "tgpu.yield"(%P.expand) : (tensor<64x64x64xf16>) -> ()
            omp.terminator
          }) {batches = array<i64>, columns = array<i64: 2>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!t64x32_i8_row_32_i64_smem, index, index, index, index, index) -> !t64x16_f16_frag
          %c0_i32_9 = arith.constant 0 : i32
          %c2_i32 = arith.constant 2 : i32
          %c1_i32_10 = arith.constant 1 : i32
          %12:4 = scf.for %arg12 = %c0_i32_9 to %c2_i32 step %c1_i32_10 iter_args(%arg13 = %acc, %arg14 = %a, %arg15 = %arg9, %arg16 = %arg10) -> (!t64x64_f32_wgmma_64_i64_64_i64_acc, !t64x16_f16_frag, i32, i32)  : i32 {
            %21 = arith.index_cast %arg15 : i32 to index
            %c32_i32 = arith.constant 32 : i32
            %22 = arith.muli %arg12, %c32_i32 : i32
            %23 = arith.index_cast %22 : i32 to index
            %c0_i32_13 = arith.constant 0 : i32
            %24 = arith.cmpi ne, %arg12, %c0_i32_13 : i32
            %true = arith.constant true
            %acc_14 = "tgpu.wgmma_fragment"(%arg14, %B, %21, %c0_7, %24, %arg13) {k = 0 : i64} : (!t64x16_f16_frag, !t32x64_f16_row_128_i64_smem, index, index, i1, !t64x64_f32_wgmma_64_i64_64_i64_acc) -> !t64x64_f32_wgmma_64_i64_64_i64_in_flight
            %a_15 = "tgpu.load_fragment"(%A, %21, %c0_5, %9, %23, %10) ({
            ^bb0(%X_34: tensor<64x64xi8>):
              %Xs = "tiny.view"(%X_34) {map = #map} : (tensor<64x64xi8>) -> tensor<64x64xi8>
              %X0 = "tiny.cast"(%Xs) : (tensor<64x64xi8>) -> tensor<64x64xf16>
              %X1 = "tiny.reshape"(%X0) : (tensor<64x64xf16>) -> tensor<64x1x64xf16>
              %P.expand = "tiny.expand"(%X1) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<64x1x64xf16>) -> tensor<64x64x64xf16>
              "tgpu.yield"(%P.expand) : (tensor<64x64x64xf16>) -> ()
              omp.terminator
            }) {batches = array<i64>, columns = array<i64: 2>, guarded = [], k = 16 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!t64x32_i8_row_32_i64_smem, index, index, index, index, index) -> !t64x16_f16_frag
            %acc_16 = "tgpu.wgmma_fragment"(%a_15, %B, %21, %c0_7, %true, %acc_14) {k = 16 : i64} : (!t64x16_f16_frag, !t32x64_f16_row_128_i64_smem, index, index, i1, !t64x64_f32_wgmma_64_i64_64_i64_in_flight) -> !t64x64_f32_wgmma_64_i64_64_i64_in_flight
            "tgpu.commit_group"() {kind = "wgmma"} : () -> ()
            %c1_i32_17 = arith.constant 1 : i32
            %25 = arith.cmpi eq, %arg12, %c1_i32_17 : i32
            %c1_i32_18 = arith.constant 1 : i32
            %26 = arith.addi %arg15, %c1_i32_18 : i32
            %c2_i32_19 = arith.constant 2 : i32
            %27 = arith.cmpi uge, %26, %c2_i32_19 : i32
            %c1_i32_20 = arith.constant 1 : i32
            %28 = arith.subi %arg15, %c1_i32_20 : i32
            %c1_i32_21 = arith.constant 1 : i32
            %29 = arith.addi %arg15, %c1_i32_21 : i32
            %30 = arith.select %27, %28, %29 : i32
            %c1_i32_22 = arith.constant 1 : i32
            %c0_i32_23 = arith.constant 0 : i32
            %31 = arith.select %27, %c1_i32_22, %c0_i32_23 : i32
            %32 = arith.xori %arg16, %31 : i32
            %33 = arith.select %25, %arg15, %30 : i32
            %34 = arith.select %25, %arg16, %32 : i32
            %c1_i32_24 = arith.constant 1 : i32
            %35 = arith.addi %arg12, %c1_i32_24 : i32
            %36 = arith.select %25, %arg12, %35 : i32
            %37 = arith.index_cast %33 : i32 to index
            "tgpu.mbarrier_wait"(%full, %37, %34) : (!tgpu.mbarrier<2 : i64>, index, i32) -> ()
            %c32_i32_25 = arith.constant 32 : i32
            %38 = arith.muli %36, %c32_i32_25 : i32
            %39 = arith.index_cast %38 : i32 to index
            %a_26 = "tgpu.load_fragment"(%A, %37, %c0_5, %9, %39, %10) ({
            ^bb0(%X_34: tensor<64x64xi8>):
              %Xs = "tiny.view"(%X_34) {map = #map} : (tensor<64x64xi8>) -> tensor<64x64xi8>
              %X0 = "tiny.cast"(%Xs) : (tensor<64x64xi8>) -> tensor<64x64xf16>
              %X1 = "tiny.reshape"(%X0) : (tensor<64x64xf16>) -> tensor<64x1x64xf16>
              %P.expand = "tiny.expand"(%X1) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<64x1x64xf16>) -> tensor<64x64x64xf16>
              "tgpu.yield"(%P.expand) : (tensor<64x64x64xf16>) -> ()
              omp.terminator
            }) {batches = array<i64>, columns = array<i64: 2>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!t64x32_i8_row_32_i64_smem, index, index, index, index, index) -> !t64x16_f16_frag
            %acc_27 = "tgpu.wait_group"(%acc_16) {kind = "wgmma", operandSegmentSizes = array<i32: 1>, pending = 0 : i64, resultSegmentSizes = array<i32: 1>} : (!t64x64_f32_wgmma_64_i64_64_i64_in_flight) -> !t64x64_f32_wgmma_64_i64_64_i64_acc
            "tgpu.warp_barrier"() : () -> ()
            %40 = arith.index_cast %arg15 : i32 to index
            "tgpu.mbarrier_arrive"(%empty, %40) {ctas = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!tgpu.mbarrier<2 : i64>, index) -> ()
            %c1_i32_28 = arith.constant 1 : i32
            %41 = arith.addi %arg15, %c1_i32_28 : i32
            %c2_i32_29 = arith.constant 2 : i32
            %42 = arith.cmpi uge, %41, %c2_i32_29 : i32
            %c1_i32_30 = arith.constant 1 : i32
            %43 = arith.subi %arg15, %c1_i32_30 : i32
            %c1_i32_31 = arith.constant 1 : i32
            %44 = arith.addi %arg15, %c1_i32_31 : i32
            %45 = arith.select %42, %43, %44 : i32
            %c1_i32_32 = arith.constant 1 : i32
            %c0_i32_33 = arith.constant 0 : i32
            %46 = arith.select %42, %c1_i32_32, %c0_i32_33 : i32
            %47 = arith.xori %arg16, %46 : i32
            scf.yield %acc_27, %a_26, %45, %47 : !t64x64_f32_wgmma_64_i64_64_i64_acc, !t64x16_f16_frag, i32, i32
          } {loop_annotation = #loop_annotation}
          "tgpu.wait_group"() {kind = "bulk", operandSegmentSizes = array<i32: 0>, pending = 0 : i64, resultSegmentSizes = array<i32: 0>} : () -> ()
          "tgpu.named_barrier"() {id = 1 : i64, threads = 128 : i64} : () -> ()
          %c2_i32_11 = arith.constant 2 : i32
          %13 = arith.muli %0, %c2_i32_11 : i32
          %14 = arith.index_cast %13 : i32 to index
          "tgpu.epilogue_slab"(%12#0, %c0, %8, %c0_4, %C, %14) ({
          ^bb0(%Y_fp32: tensor<64x64xf32>):
            %bias_13 = "region.read"(%bias) : (!t64_f16_memref) -> tensor<64xf16>
            %b0 = "tiny.view"(%bias_13) {map = #map1} : (tensor<64xf16>) -> tensor<64xf16>
            %b1 = "tiny.reshape"(%b0) : (tensor<64xf16>) -> tensor<1x64xf16>
            %Yb.cast = "tiny.cast"(%b1) : (tensor<1x64xf16>) -> tensor<1x64xf32>
            %Yb.expand = "tiny.expand"(%Yb.cast) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x64xf32>) -> tensor<64x64xf32>
            %Yb = "tiny.add"(%Y_fp32, %Yb.expand) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
            %Yr = "tiny.relu"(%Yb) : (tensor<64x64xf32>) -> tensor<64x64xf32>
            %Y_14 = "tiny.cast"(%Yr) : (tensor<64x64xf32>) -> tensor<64x64xf16>
            "region.yield"(%Y_14, %Y) {materialize = "gmem"} : (tensor<64x64xf16>, !t64x64_f16_memref) -> ()
            omp.terminator
          }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, slab = array<i64: 0, 64>, pieces = 0 : i64} : (!t64x64_f32_wgmma_64_i64_64_i64_acc, index, index, index, !t64x64_f16_row_128_i64_smem, index) -> ()
          "tgpu.fence_async"() : () -> ()
          "tgpu.named_barrier"() {id = 1 : i64, threads = 128 : i64} : () -> ()
          %15 = arith.index_cast %c0 : index to i32
          %16 = arith.index_cast %8 : index to i32
          %17 = arith.index_cast %c0_4 : index to i32
          %18 = arith.index_cast %17 : i32 to index
          %19 = arith.index_cast %16 : i32 to index
          "tgpu.tma_store"(%C, %14, %Y, %arg6, %18, %19) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!t64x64_f16_row_128_i64_smem, index, !t64x64_f16_memref, !tgpu.tensor_map, index, index) -> ()
          "tgpu.commit_group"() {kind = "bulk"} : () -> ()
          %c1_i32_12 = arith.constant 1 : i32
          %20 = arith.xori %arg11, %c1_i32_12 : i32
          scf.yield %12#2, %12#3, %20 : i32, i32, i32
        } {loop_annotation = #loop_annotation}
        "tgpu.wait_group"() {kind = "bulk", operandSegmentSizes = array<i32: 0>, pending = -1 : i64, resultSegmentSizes = array<i32: 0>} : () -> ()
        omp.terminator
      }) {count = 1 : i64, first = 1 : i64, one_thread = false, registers = 232 : i64} : () -> ()
      gpu.return
    }
  }
  func.func @main(%X: tensor<64x64xi8> {tiny.name = "X"}, %W: tensor<64x64xf16> {tiny.name = "W"}, %bias: tensor<64xf16> {tiny.name = "bias"}) -> (tensor<64x64xf16> {tiny.name = "Y"}) {
    %0 = "region.launch"() {kernel = @matmul_add_relu_cast} : () -> ((tensor<64x64xi8>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<64x64xf16>)
    %Y = call_indirect %0(%X, %W, %bias) : (tensor<64x64xi8>, tensor<64x64xf16>, tensor<64xf16>) -> tensor<64x64xf16>
    return %Y : tensor<64x64xf16>
  }
}
