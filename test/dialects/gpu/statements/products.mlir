// What statements of products of tensor cores say of themselves, wrongly, beyond what stands in tensor_cores.mlir.
// RUN: tinyc-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect %s

// A fragment is a !tgpu.frag.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!warps = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.ldmatrix' gives !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>; it must be a !tgpu.frag}}
  %f = "tgpu.ldmatrix"(%a, %0) {first = 0 : i64, k = 0 : i64, warps = array<i64: 2, 2>} : (!a, index) -> !warps
  gpu.return
}
}

// -----

// Warps that lie below each other have all rows of a tile.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<32x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.ldmatrix' gives each of 3 warps 32 of 64, from its 0 on; warps share the tile equally, and load multiples of 8}}
  %f = "tgpu.ldmatrix"(%a, %0) {first = 0 : i64, k = 0 : i64, warps = array<i64: 3, 2>} : (!a, index) -> !fa
  gpu.return
}
}

// -----

// A fragment begins where an instruction's factors do.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<32x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.ldmatrix' takes 16 of 64 elements along k, from 8 on; an MMA takes 32 bytes}}
  %f = "tgpu.ldmatrix"(%a, %0) {first = 0 : i64, k = 8 : i64, warps = array<i64: 2, 2>} : (!a, index) -> !fa
  gpu.return
}
}

// -----

// A product takes a fragment of each side.
!warps = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
!fa = !tgpu.frag<tensor<32x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "test.fragment"() : () -> !fa
  %b = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !warps
  // expected-error @+1 {{'tgpu.mma_sync' takes a !tgpu.frag of side "b", not !tgpu.frag<tensor<32x16xf16>, "a">}}
  %o = "tgpu.mma_sync"(%a, %b, %z) {column = 0 : i64} : (!fa, !fa, !warps) -> !warps
  gpu.return
}
}

// -----

// A part of a warp's columns is inside of them.
!b = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!fb = !tgpu.frag<tensor<16x32xf16>, "b">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %b = "tgpu.alloc_smem"() : () -> !b
  // expected-error @+1 {{'tgpu.ldmatrix' gives each of 2 warps 32 of 64, from its 8 on; warps share the tile equally}}
  %f = "tgpu.ldmatrix"(%b, %0) {first = 8 : i64, k = 0 : i64, warps = array<i64: 2, 2>} : (!b, index) -> !fb
  gpu.return
}
}

// -----

// And so is what is added to.
!warps = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
!fa = !tgpu.frag<tensor<32x16xf16>, "a">
!fb = !tgpu.frag<tensor<16x8xf16>, "b">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "test.fragment"() : () -> !fa
  %b = "test.fragment"() : () -> !fb
  %z = "tgpu.zero"() : () -> !warps
  // expected-error @+1 {{'tgpu.mma_sync' multiplies 32x16 by 16x8 into 32x32 for each warp, from column 32 on}}
  %o = "tgpu.mma_sync"(%a, %b, %z) {column = 32 : i64} : (!fa, !fb, !warps) -> !warps
  gpu.return
}
}

// -----

// Fragments are those of a warp of the accumulators.
!warps = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
!fb = !tgpu.frag<tensor<16x32xf16>, "b">
!fa16 = !tgpu.frag<tensor<16x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "test.fragment"() : () -> !fa16
  %b = "test.fragment"() : () -> !fb
  %z = "tgpu.zero"() : () -> !warps
  // expected-error @+1 {{'tgpu.mma_sync' multiplies 16x16 by 16x32 into 32x32 for each warp, from column 0 on}}
  %o = "tgpu.mma_sync"(%a, %b, %z) {column = 0 : i64} : (!fa16, !fb, !warps) -> !warps
  gpu.return
}
}

// -----

// Operands of a product have one element type.
!warps = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
!fa = !tgpu.frag<tensor<32x16xf16>, "a">
!fbb = !tgpu.frag<tensor<16x32xbf16>, "b">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "test.fragment"() : () -> !fa
  %b = "test.fragment"() : () -> !fbb
  %z = "tgpu.zero"() : () -> !warps
  // expected-error @+1 {{'tgpu.mma_sync' multiplies f16 by bf16; operands of a product have one element type}}
  %o = "tgpu.mma_sync"(%a, %b, %z) {column = 0 : i64} : (!fa, !fbb, !warps) -> !warps
  gpu.return
}
}

// -----

// Its accumulators stay where they are.
!acc64 = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
!warps = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>
!fa = !tgpu.frag<tensor<32x16xf16>, "a">
!fb = !tgpu.frag<tensor<16x32xf16>, "b">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "test.fragment"() : () -> !fa
  %b = "test.fragment"() : () -> !fb
  %z = "tgpu.zero"() : () -> !warps
  // expected-error @+1 {{'tgpu.mma_sync' gives !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>; it must be what it adds to, !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"mma", 32 : i64, 32 : i64>>>}}
  %o = "tgpu.mma_sync"(%a, %b, %z) {column = 0 : i64} : (!fa, !fb, !warps) -> !acc64
  gpu.return
}
}

// -----

// Whether a product is added is an i1.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b = !tgpu.smem<tensor<64x128xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!flying = !tgpu.in_flight<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.wgmma' accumulates where index says so; it must be an i1}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %0, %z) : (!a, !b, index, index, index, index, !acc) -> !flying
  gpu.return
}
}

// -----

// Accumulators are those of warpgroups.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b = !tgpu.smem<tensor<64x128xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!thread = !tgpu.acc<tensor<64x128xf32>>
!flying = !tgpu.in_flight<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b
  %z = "tgpu.zero"() : () -> !thread
  // expected-error @+1 {{'tgpu.wgmma' adds to !tgpu.acc<tensor<64x128xf32>>; its accumulators are #tgpu.fragments of wgmma, 256 wide at most}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %z) : (!a, !b, index, index, index, i1, !thread) -> !flying
  gpu.return
}
}

// -----

// Tiles are as deep as each other, and the accumulators' sides.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!acol = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"col", 128 : i64>>, 2 : i64>
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!flying = !tgpu.in_flight<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !acol
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.wgmma' multiplies 64x64 by 64x64 into 64x128; tiles are MxK, KxN and MxN}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %z) : (!a, !acol, index, index, index, i1, !acc) -> !flying
  gpu.return
}
}

// -----

// They have as many stages.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b3 = !tgpu.smem<tensor<64x128xf16, #tgpu.swizzle<"row", 128 : i64>>, 3 : i64>
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!flying = !tgpu.in_flight<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b3
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.wgmma' multiplies !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64> by !tgpu.smem<tensor<64x128xf16, #tgpu.swizzle<"row", 128 : i64>>, 3 : i64>; give both one element type and as many stages}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %z) : (!a, !b3, index, index, index, i1, !acc) -> !flying
  gpu.return
}
}

// -----

// Bytes are read along k alone.
!a8 = !tgpu.smem<tensor<64x128xi8, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b8 = !tgpu.smem<tensor<128x128xi8, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!acci = !tgpu.acc<tensor<64x128xi32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!flyingi = !tgpu.in_flight<tensor<64x128xi32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a8
  %b = "tgpu.alloc_smem"() : () -> !b8
  %z = "tgpu.zero"() : () -> !acci
  // expected-error @+1 {{'tgpu.wgmma' reads i8 across k; only elements of 16 bits may lie along m or n}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %z) : (!a8, !b8, index, index, index, i1, !acci) -> !flyingi
  gpu.return
}
}

// -----

// What comes out is in flight.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b = !tgpu.smem<tensor<64x128xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.wgmma' gives !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>; it must be the same accumulators, as a !tgpu.in_flight}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %z) : (!a, !b, index, index, index, i1, !acc) -> !acc
  gpu.return
}
}

// -----

// It is what went in.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b = !tgpu.smem<tensor<64x128xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
!flying64 = !tgpu.in_flight<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %t = arith.constant true
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.wgmma' gives !tgpu.in_flight<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>; it must be the same accumulators, as a !tgpu.in_flight}}
  %o = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %z) : (!a, !b, index, index, index, i1, !acc) -> !flying64
  gpu.return
}
}
