// What the statements of tensor-core kernels, and the scalar level's ops for them, say of themselves, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics --allow-unregistered-dialect %s

// A copy has a size that the hardware has.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' copies 2 bytes at a time to lines of 128; a copy has 4, 8 or 16, and a line some of them}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 2 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A copy moves elements of one type.
!a = !tgpu.smem<tensor<64x64xf32, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.cp_async' moves f16 between a buffer and tiles of f32; give both one element type}}
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// A line of a swizzle is a part of the side that is contiguous.
!a = !tgpu.smem<tensor<64x48xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{has 48 neighbours, which lines of 128 bytes (64) do not divide}}
  %a = "tgpu.alloc_smem"() : () -> !a
  gpu.return
}
}

// -----

// A group is of something that is asynchronous.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.commit_group' has kind = "copies"; it must be one of cp_async, bulk, wgmma}}
  "tgpu.commit_group"() {kind = "copies"} : () -> ()
  gpu.return
}
}

// -----

// So many groups are not pending.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.wait_group' has pending = 9 : i64; from 0 to 7 groups may be}}
  "tgpu.wait_group"() {kind = "cp_async", pending = 9 : i64, operandSegmentSizes = array<i32: 0>, resultSegmentSizes = array<i32: 0>} : () -> ()
  gpu.return
}
}

// -----

// Accumulators are ready when nothing is pending, and no sooner.
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!f = !tgpu.in_flight<!s>
!r = !tgpu.acc<!s>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %f = "test.op"() : () -> !f
  // expected-error @+1 {{with 1 pending it is a !tgpu.in_flight}}
  %r = "tgpu.wait_group"(%f) {kind = "wgmma", pending = 1 : i64, operandSegmentSizes = array<i32: 1>, resultSegmentSizes = array<i32: 1>} : (!f) -> !r
  gpu.return
}
}

// -----

// An mbarrier is one that something arrives at.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.mbarrier_init' has arrivals = 0 : i64; a phase ends with 1 to 1048575}}
  %b = "tgpu.mbarrier_init"() {arrivals = 0 : i64} : () -> !tgpu.mbarrier<2 : i64>
  gpu.return
}
}

// -----

// A phase waits for some bytes.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %b = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<2 : i64>
  // expected-error @+1 {{'tgpu.mbarrier_expect_tx' expects 0 bytes; a phase may wait for 1 to 1048575}}
  "tgpu.mbarrier_expect_tx"(%b, %0) {bytes = 0 : i64} : (!tgpu.mbarrier<2 : i64>, index) -> ()
  gpu.return
}
}

// -----

// Threads arrive somewhere.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %b = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<2 : i64>
  // expected-error @+1 {{'tgpu.mbarrier_arrive' arrives at 0 CTAs; a cluster has 1 to 16}}
  "tgpu.mbarrier_arrive"(%b, %0) {ctas = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!tgpu.mbarrier<2 : i64>, index) -> ()
  gpu.return
}
}

// -----

// A parity is 0 or 1.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %b = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<2 : i64>
  // expected-error @+1 {{'tgpu.mbarrier_wait' has a parity of type index; it must be an i32, 0 or 1}}
  "tgpu.mbarrier_wait"(%b, %0, %0) : (!tgpu.mbarrier<2 : i64>, index, index) -> ()
  gpu.return
}
}

// -----

// A stage of tiles has an mbarrier.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %m = "test.op"() : () -> !tgpu.tensor_map
  %b = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !tgpu.mbarrier<3 : i64>
  // expected-error @+1 {{and counts at !tgpu.mbarrier<3 : i64>; give both as many}}
  "tgpu.tma_load"(%a, %0, %b, %m, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !tgpu.mbarrier<3 : i64>, !tgpu.tensor_map, index, index) -> ()
  gpu.return
}
}

// -----

// TMA copies by a tensor map.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.tma_store' copies by index; it must be a !tgpu.tensor_map, an argument of the kernel}}
  "tgpu.tma_store"(%a, %0, %y, %0, %0) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>} : (!a, index, !x, index, index) -> ()
  gpu.return
}
}

// -----

// A register has several elements of 8 bits, which are neighbours along k.
!a = !tgpu.smem<tensor<64x64xi8, #tgpu.swizzle<"row", 64 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.ldmatrix' transposes i8, and a word has several along k; store the tile along k}}
  %f = "tgpu.ldmatrix"(%a, %0) {first = 0 : i64, k = 0 : i64, warps = array<i64: 2, 2>} : (!a, index) -> !tgpu.frag<tensor<32x32xi8>, "b">
  gpu.return
}
}

// -----

// A fragment is as long along k as an instruction multiplies.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{'tgpu.ldmatrix' takes 32 of 64 elements along k, from 0 on; an MMA takes 32 bytes}}
  %f = "tgpu.ldmatrix"(%a, %0) {first = 0 : i64, k = 0 : i64, warps = array<i64: 2, 2>} : (!a, index) -> !tgpu.frag<tensor<32x32xf16>, "a">
  gpu.return
}
}

// -----

// Products of warps are added to fragments of theirs.
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!f = !tgpu.in_flight<!s>
!r = !tgpu.acc<!s>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "test.op"() : () -> !tgpu.frag<tensor<64x16xf16>, "a">
  %b = "test.op"() : () -> !tgpu.frag<tensor<16x64xf16>, "b">
  %c = "tgpu.zero"() : () -> !r
  // expected-error @+1 {{its accumulators are #tgpu.fragments of mma}}
  %d = "tgpu.mma_sync"(%a, %b, %c) {column = 0 : i64} : (!tgpu.frag<tensor<64x16xf16>, "a">, !tgpu.frag<tensor<16x64xf16>, "b">, !r) -> !r
  gpu.return
}
}

// -----

// Accumulators in flight are not read.
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!f = !tgpu.in_flight<!s>
!r = !tgpu.acc<!s>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "test.op"() : () -> !tgpu.frag<tensor<64x16xf16>, "a">
  %b = "test.op"() : () -> !tgpu.frag<tensor<16x64xf16>, "b">
  %c = "test.op"() : () -> !f
  // expected-error @+1 {{which tensor cores still add to; wait for it with 'tgpu.wait_group'}}
  %d = "tgpu.mma_sync"(%a, %b, %c) {column = 0 : i64} : (!tgpu.frag<tensor<64x16xf16>, "a">, !tgpu.frag<tensor<16x64xf16>, "b">, !f) -> !f
  gpu.return
}
}

// -----

// Warpgroups read tiles with a swizzle.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b = !tgpu.smem<tensor<64x64xf16>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!f = !tgpu.in_flight<!s>
!r = !tgpu.acc<!s>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b
  %t = arith.constant true
  %c = "tgpu.zero"() : () -> !r
  // expected-error @+1 {{'tgpu.wgmma' reads tiles without a swizzle, which is the layout that its descriptors have here}}
  %d = "tgpu.wgmma"(%a, %b, %0, %0, %0, %t, %c) : (!a, !b, index, index, index, i1, !r) -> !f
  gpu.return
}
}

// -----

// A role has some registers.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.warpgroups' has registers = 20; a thread has 24 to 256, a multiple of 8}}
  "tgpu.warpgroups"() ({ ^bb0(%g: index): omp.terminator }) {first = 0 : i64, count = 1 : i64, registers = 20 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// A named barrier is one that the hardware has.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.named_barrier' has id = 16; named barriers are 1 to 15}}
  "tgpu.named_barrier"() {id = 16 : i64, threads = 128 : i64} : () -> ()
  gpu.return
}
}

// -----

// A barrier of a cluster says whether it is relaxed, and nothing else.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.cluster_barrier' has no attribute 'id'; it has relaxed}}
  "tgpu.cluster_barrier"() {id = 1 : i64, relaxed = true} : () -> ()
  gpu.return
}
}

// -----

!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  // expected-error @+1 {{'tgpu.cluster_barrier' has relaxed = 1 : i64; it must be true or false}}
  "tgpu.cluster_barrier"() {relaxed = 1 : i64} : () -> ()
  gpu.return
}
}

// -----

// Nor has a fence.
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.fence_async' has no attribute 'kind'; it has none}}
  "tgpu.fence_async"() {kind = "cta"} : () -> ()
  gpu.return
}
}

// -----

// A slab is some columns of the accumulators.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
!f = !tgpu.in_flight<!s>
!r = !tgpu.acc<!s>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  %c = "tgpu.zero"() : () -> !r
  // expected-error @+1 {{'tgpu.epilogue_slab' finishes columns 48 to 80}}
  "tgpu.epilogue_slab"(%c, %0, %0, %0, %a, %0) ({ ^bb0(%v: tensor<64x64xf32>): omp.terminator }) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 0>, rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], slab = array<i64: 48, 32>, pieces = 0 : i64} : (!r, index, index, index, !a, index) -> ()
  gpu.return
}
}

// -----

// What is written at a time are neighbours in the tile and in the buffer.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"col", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !x, %y: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  // expected-error @+1 {{and in the buffer they are 64 apart; give the tile the other order, or write one at a time}}
  "tgpu.st_global_vec"(%a, %0, %y, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], guarded = [], width = 8 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// An address in global memory has 64 bits.
!row = memref<?xf16, #gpu.address_space<global>>
gpu.module @kernels {
gpu.func @k(%x: !row, %m: !tgpu.tensor_map) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  %w = arith.constant 0 : i32
  // expected-error @+1 {{'tgpu.address' gives i32; the address of an element of memref<?xf16, #gpu.address_space<global>> is i64}}
  %a = "tgpu.address"(%x, %0) : (!row, index) -> i32
  gpu.return
}
}

// -----

// So has that of a tensor map.
!row = memref<?xf16, #gpu.address_space<global>>
gpu.module @kernels {
gpu.func @k(%x: !row, %m: !tgpu.tensor_map) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  %w = arith.constant 0 : i32
  // expected-error @+1 {{'tgpu.map_address' gives i32 for !tgpu.tensor_map; it must be an i64 for a !tgpu.tensor_map}}
  %a = "tgpu.map_address"(%m) : (!tgpu.tensor_map) -> i32
  gpu.return
}
}

// -----

// An instruction is one of the table.
!row = memref<?xf16, #gpu.address_space<global>>
gpu.module @kernels {
gpu.func @k(%x: !row, %m: !tgpu.tensor_map) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  %w = arith.constant 0 : i32
  // expected-error @+1 {{which is no instruction of gpu/instructions.py}}
  %a = "tgpu.instruction"(%w) {instruction_name = "ldmatrix.x3", operandSegmentSizes = array<i32: 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1>} : (i32) -> i32
  gpu.return
}
}

// -----

// An instruction gives what it gives.
!row = memref<?xf16, #gpu.address_space<global>>
gpu.module @kernels {
gpu.func @k(%x: !row, %m: !tgpu.tensor_map) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
  %0 = arith.constant 0 : index
  %w = arith.constant 0 : i32
  // expected-error @+1 {{'tgpu.instruction' of "ldmatrix.x2" has i32 -> i32; it must be i32 -> i32, i32}}
  %a = "tgpu.instruction"(%w) {instruction_name = "ldmatrix.x2", operandSegmentSizes = array<i32: 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1>} : (i32) -> i32
  gpu.return
}
}
