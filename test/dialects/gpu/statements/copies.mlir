// What statements of copies of tiles say of themselves, wrongly, beyond what stands in tensor_cores.mlir.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A stage is a number of type index.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' has stage of type i32; it must be an index}}
  "tgpu.cp_async"(%a, %p, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, i32, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A matrix is runs of axes.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' has rows = 64 : i64; it must be a list of extents}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [64], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A run is an extent and a stride.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' has the run [64] of columns; it must be an extent and a stride, ["M", 1]}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// It begins at one place.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' has offset = [0, 1]; it must be one extent, [0]}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0, 1], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A side is guarded once.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' has guarded = ["rows", "rows"]; it names a side twice}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = ["rows", "rows"], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// What one copy moves are neighbours in the buffer.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' copies 16 bytes at a time, and elements that are 2 apart; copy neighbours, or load them by 'tgpu.load_tile'}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 2]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// Its rows begin at multiples of that.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' copies 16 bytes at a time, from multiples of that on, and has an offset or a stride of 66 elements; choose one that 8 divides, or fewer bytes}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 66]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// So does the matrix.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' copies 16 bytes at a time, from multiples of that on, and has an offset or a stride of 4 elements; choose one that 8 divides, or fewer bytes}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [4], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A thread takes some neighbours at a time.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.st_global_vec' has width = 3 : i64; a thread takes 1, 2, 4, 8 or 16 neighbours at a time}}
  "tgpu.st_global_vec"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], guarded = [], width = 3 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A place has as many coordinates as a tensor map has dimensions.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  // expected-error @+1 {{'tgpu.tma_load' has a place of coordinates (index, index, index, index, index, index); a tensor map has 1 to 5, of type index}}
  "tgpu.tma_load"(%a, %0, %full, %map, %0, %0, %0, %0, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 6>} : (!a, index, !bars, !tgpu.tensor_map, index, index, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// A coordinate is of type index.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  // expected-error @+1 {{'tgpu.tma_load' has a place of coordinates (index, i32); a tensor map has 1 to 5, of type index}}
  "tgpu.tma_load"(%a, %0, %full, %map, %0, %p) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, i32) -> ()
  gpu.return
}
}

// -----

// CTAs that share a tile load whole patterns of the swizzle.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  // expected-error @+1 {{'tgpu.tma_load' has multicast = 16; the CTAs share 64 lines, each a multiple of 8}}
  "tgpu.tma_load"(%a, %0, %full, %map, %0, %0) {multicast = 16 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
  gpu.return
}
}

// -----

// TMA loads by a tensor map, too.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  // expected-error @+1 {{'tgpu.tma_load' copies by index; it must be a !tgpu.tensor_map, an argument of the kernel}}
  "tgpu.tma_load"(%a, %0, %full, %0, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, index, index, index) -> ()
  gpu.return
}
}

// -----

// Beyond a side are zeros, or the last row again.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<60x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' says twice what there is beyond the rows; it is guarded, or clamped, once}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[60, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = ["rows"], guarded = ["rows"], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// The last copy of a side that is clamped is a whole one.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' clamps columns, 60 that are copied 8 at a time; guard a side whose last copy is not whole}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[60, 1]], batches = [], offset = [0], clamped = ["columns"], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}
