// What products whose operand A is made in registers say of themselves, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect %s

// The first row is a position.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %f0 = arith.constant 0 : i32
  // expected-error @+1 {{'tgpu.load_fragment' has first of type i32; it must be an index}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %f0) ({
  ^bb0(%s: tensor<64x64xi8>):
    %v = "tiny.cast"(%s) : (tensor<64x64xi8>) -> tensor<64x64xf16>
    "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, i32) -> !fa
  gpu.return
}
}

// -----

// It makes a fragment.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.load_fragment' gives !tgpu.acc<tensor<64x16xf16>>; it must be a !tgpu.frag}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %0) ({
  ^bb0(%s: tensor<64x64xi8>):
    %v = "tiny.cast"(%s) : (tensor<64x64xi8>) -> tensor<64x64xf16>
    "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, index) -> !tgpu.acc<tensor<64x16xf16>>
  gpu.return
}
}

// -----

// The body computes factors.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.load_fragment' makes a fragment of f16 of i8; give both one element type}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %0) ({
  ^bb0(%s: tensor<64x64xi8>):
    "tgpu.yield"(%s) : (tensor<64x64xi8>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, index) -> !fa
  gpu.return
}
}

// -----

// A fragment is what an instruction multiplies along k.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.load_fragment' takes 16 of 64 elements along k, from 8 on; an MMA takes 32 bytes}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %0) ({
  ^bb0(%s: tensor<64x64xi8>):
    %v = "tiny.cast"(%s) : (tensor<64x64xi8>) -> tensor<64x64xf16>
    "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 8 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, index) -> !fa
  gpu.return
}
}

// -----

// Warpgroups below each other have rows of the tile, in whole instructions.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.load_fragment' gives 2 warpgroups 64 rows each of 64; they are multiples of 64}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %0) ({
  ^bb0(%s: tensor<64x64xi8>):
    %v = "tiny.cast"(%s) : (tensor<64x64xi8>) -> tensor<64x64xf16>
    "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 2, 1>} : (!a, index, index, index, index, index) -> !fa
  gpu.return
}
}

// -----

// The tile has elements of what the body reads.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.load_fragment' reads i16 from tiles of i8; give both one type, of at most 32 bits}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %0) ({
  ^bb0(%s: tensor<64x64xi16>):
    %v = "tiny.cast"(%s) : (tensor<64x64xi16>) -> tensor<64x64xf16>
    "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, index) -> !fa
  gpu.return
}
}

// -----

// An element of A is computed from one element of the tile.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.load_fragment' has no one element of tensor<64x64xi8> for each that it computes}}
  %f = "tgpu.load_fragment"(%a, %0, %0, %0, %0, %0) ({
  ^bb0(%s: tensor<64x64xi8>):
    %t = "tiny.permute"(%s) {perm = array<i64: 1, 0>} : (tensor<64x64xi8>) -> tensor<64x64xi8>
    %u = "tiny.add"(%s, %t) : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi8>
    %v = "tiny.cast"(%u) : (tensor<64x64xi8>) -> tensor<64x64xf16>
    "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
    omp.terminator
  }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, index) -> !fa
  gpu.return
}
}

// -----

// The fragment has the rows of the accumulators.
!fa = !tgpu.frag<tensor<128x16xf16>, "a">
!b = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %adds = arith.constant true
  %b = "tgpu.alloc_smem"() : () -> !b
  %a = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !tgpu.acc<!s>
  // expected-error @+1 {{'tgpu.wgmma_fragment' multiplies 128x16 by 64x64 into 64x64 for each warpgroup}}
  %o = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %adds, %z) {k = 0 : i64} : (!fa, !b, index, index, i1, !tgpu.acc<!s>) -> !tgpu.in_flight<!s>
  gpu.return
}
}

// -----

// Both operands are of one type.
!fa = !tgpu.frag<tensor<64x16xbf16>, "a">
!b = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %adds = arith.constant true
  %b = "tgpu.alloc_smem"() : () -> !b
  %a = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !tgpu.acc<!s>
  // expected-error @+1 {{'tgpu.wgmma_fragment' multiplies bf16 by f16; operands have one element type}}
  %o = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %adds, %z) {k = 0 : i64} : (!fa, !b, index, index, i1, !tgpu.acc<!s>) -> !tgpu.in_flight<!s>
  gpu.return
}
}

// -----

// A step is one instruction's.
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
!b = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %adds = arith.constant true
  %b = "tgpu.alloc_smem"() : () -> !b
  %a = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !tgpu.acc<!s>
  // expected-error @+1 {{'tgpu.wgmma_fragment' multiplies 16 of 64 elements along k, from 56 on; an instruction takes 32 bytes}}
  %o = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %adds, %z) {k = 56 : i64} : (!fa, !b, index, index, i1, !tgpu.acc<!s>) -> !tgpu.in_flight<!s>
  gpu.return
}
}

// -----

// B is read by a descriptor, of a swizzled tile.
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
!b = !tgpu.smem<tensor<64x64xf16>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %adds = arith.constant true
  %b = "tgpu.alloc_smem"() : () -> !b
  %a = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !tgpu.acc<!s>
  // expected-error @+1 {{'tgpu.wgmma_fragment' reads tiles without a swizzle, which is the layout that its descriptors have here}}
  %o = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %adds, %z) {k = 0 : i64} : (!fa, !b, index, index, i1, !tgpu.acc<!s>) -> !tgpu.in_flight<!s>
  gpu.return
}
}

// -----

// Only elements of 16 bits are turned.
!fa = !tgpu.frag<tensor<64x8xf32>, "a">
!b = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %adds = arith.constant true
  %b = "tgpu.alloc_smem"() : () -> !b
  %a = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !tgpu.acc<!s>
  // expected-error @+1 {{'tgpu.wgmma_fragment' reads f32 across k; only elements of 16 bits may lie along n}}
  %o = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %adds, %z) {k = 0 : i64} : (!fa, !b, index, index, i1, !tgpu.acc<!s>) -> !tgpu.in_flight<!s>
  gpu.return
}
}

// -----

// A product is in flight.
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
!b = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %adds = arith.constant true
  %b = "tgpu.alloc_smem"() : () -> !b
  %a = "test.fragment"() : () -> !fa
  %z = "tgpu.zero"() : () -> !tgpu.acc<!s>
  // expected-error @+1 {{'tgpu.wgmma_fragment' gives !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>; it must be the same accumulators, as a !tgpu.in_flight}}
  %o = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %adds, %z) {k = 0 : i64} : (!fa, !b, index, index, i1, !tgpu.acc<!s>) -> !tgpu.acc<!s>
  gpu.return
}
}

// -----

// A barrier of warps is of all lanes.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'tgpu.warp_barrier' has no attribute 'mask'; it has none}}
  "tgpu.warp_barrier"() {mask = 1 : i32} : () -> ()
  gpu.return
}
}
