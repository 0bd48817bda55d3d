// What statements of `tgpu.epilogue_slab` say of themselves, wrongly, beyond what stands in tensor_cores.mlir.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An epilogue is of accumulators that a unit has.
!thread = !tgpu.acc<tensor<64x128xf32>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %z = "tgpu.zero"() : () -> !thread
  // expected-error @+1 {{'tgpu.epilogue_slab' finishes columns 0 to 64 of !tgpu.acc<tensor<64x128xf32>>; a slab is columns of a unit's #tgpu.fragments, whose numbers 8 divides}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 0 : i64} : (!thread, index, index, index, !half, index) -> ()
  gpu.return
}
}

// -----

// It goes on from a tensor that is accumulated so.
!acci = !tgpu.acc<tensor<64x128xi32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %z = "tgpu.zero"() : () -> !acci
  // expected-error @+1 {{'tgpu.epilogue_slab' makes f32 of an accumulator in i32; accumulate in f32}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 0 : i64} : (!acci, index, index, index, !half, index) -> ()
  gpu.return
}
}

// -----

// All of its axes are the tile's.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.epilogue_slab' has not all 2 axes of the accumulated tensor in rows, columns and batches}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 0 : i64} : (!acc, index, index, index, !half, index) -> ()
  gpu.return
}
}

// -----

// It has one output.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!yi = !region.memref<tensor<64x128xi32>, [128, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y, %yi: !yi) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.epilogue_slab' has 2 outputs; give each a statement and a tile of its own}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    %w = "tiny.cast"(%v) : (tensor<64x128xf32>) -> tensor<64x128xi32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    "region.yield"(%w, %yi) {materialize = "gmem"} : (tensor<64x128xi32>, !yi) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 0 : i64} : (!acc, index, index, index, !half, index) -> ()
  gpu.return
}
}

// -----

// It fills a tile of the output's type.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half16 = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half16
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.epilogue_slab' writes 64x64 f32 to !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>; give the tile this type}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 0 : i64} : (!acc, index, index, index, !half16, index) -> ()
  gpu.return
}
}

// -----

// It fills all of the tile.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.epilogue_slab' writes 64x32 f32 to !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>; give the tile this type}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 32>, pieces = 0 : i64} : (!acc, index, index, index, !half, index) -> ()
  gpu.return
}
}

// -----

// Pieces are finished two at a time.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.epilogue_slab' has pieces = 3; they are finished two at a time: give an even number, or 0}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0) ({
  ^bb0(%v: tensor<64x128xf32>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 3 : i64} : (!acc, index, index, index, !half, index) -> ()
  gpu.return
}
}

// -----

// What it reads beside the accumulators has an element for each of them.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!y = !region.memref<tensor<64x128xf32>, [128, 1], 128 : i64, true>
!half = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!narrow = !tgpu.smem<tensor<64x32xf16, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %c = "tgpu.alloc_smem"() : () -> !half
  %n = "tgpu.alloc_smem"() : () -> !narrow
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.epilogue_slab' reads tensor<64x128xf16> from !tgpu.smem<tensor<64x32xf16, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>; a residual has the accumulated tensor's shape, and tiles of 64x64}}
  "tgpu.epilogue_slab"(%z, %0, %0, %0, %c, %0, %n) ({
  ^bb0(%v: tensor<64x128xf32>, %r: tensor<64x128xf16>):
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<64x128xf32>, !y) -> ()
    omp.terminator
  }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 0, 64>, pieces = 0 : i64} : (!acc, index, index, index, !half, index, !narrow) -> ()
  gpu.return
}
}
