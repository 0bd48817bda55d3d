// What holds of a kernel whose statements go on beside its threads, broken one by one.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A role is for warpgroups that the CTA has.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has statements for warpgroups 1 to 2, and a CTA of 2 warpgroups (256x1x1 threads); give it 128 threads for each}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    %c = arith.constant 0 : index
    omp.terminator
  }) {first = 1 : i64, count = 2 : i64, registers = 0 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// Together they set as many registers as a CTA has.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has warpgroups with 544 registers together for each 128 threads; a CTA of 4 warpgroups is launched with 512 on sm_90a, 128 for each; take 32 from a role}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    %c = arith.constant 0 : index
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 40 : i64, one_thread = false} : () -> ()
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    %c = arith.constant 0 : index
    omp.terminator
  }) {first = 1 : i64, count = 3 : i64, registers = 168 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// A role that sets none has those of the launch.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has warpgroups with 648 registers together for each 128 threads; a CTA of 3 warpgroups is launched with 504 on sm_90a, 168 for each; take 144 from a role}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    %c = arith.constant 0 : index
    omp.terminator
  }) {first = 1 : i64, count = 2 : i64, registers = 240 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// Each warpgroup of a role has a named barrier.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.named_barrier' with id 14 in 3 warpgroups, whose last is barrier 16; there are barriers 1 to 15}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.named_barrier"() {id = 14 : i64, threads = 128 : i64} : () -> ()
    omp.terminator
  }) {first = 0 : i64, count = 3 : i64, registers = 0 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// Shared memory that is sized at the launch has all tiles and mbarriers.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.dynamic_shared_bytes = 16384, and its tiles and mbarriers take 16400; launch it with as many}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.dynamic_shared_bytes = 16384 : i64} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.mbarrier_arrive"(%full, %0) {ctas = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!bars, index) -> ()
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = false} : () -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// It is as much as the architecture has.
!ring = !tgpu.smem<tensor<128x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 15 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has 245760 bytes of tiles in shared memory; a CTA has 232448 on sm_90a; choose smaller tiles or fewer stages}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "tgpu.alloc_smem"() : () -> !ring
  gpu.return
}
}

// -----

// On sm_80 that is less.
!ring = !tgpu.smem<tensor<128x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 15 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
// expected-error @+1 {{'gpu.func' @k has 245760 bytes of tiles in shared memory; a CTA has 166912 on sm_80; choose smaller tiles or fewer stages}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %a = "tgpu.alloc_smem"() : () -> !ring
  gpu.return
}
}

// -----

// The box of a tensor map is a slab of the tile.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.tma_load' of !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64> by a tensor map with a box 64x32 and a swizzle of 128 bytes; a slab is a box 64x64 and a swizzle of 128 bytes}}
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 32], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.mbarrier_expect_tx"(%full, %0) {bytes = 8192 : i64} : (!bars, index) -> ()
    "tgpu.tma_load"(%a, %0, %full, %map, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = true} : () -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// It has the swizzle of the tile.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.tma_load' of !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64> by a tensor map with a box 32x64 and a swizzle of 64 bytes; a slab is a box 64x64 and a swizzle of 128 bytes}}
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [32, 64], swizzle = 64 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.mbarrier_expect_tx"(%full, %0) {bytes = 8192 : i64} : (!bars, index) -> ()
    "tgpu.tma_load"(%a, %0, %full, %map, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = true} : () -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// CTAs that share a tile have a part of its slab in a box.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.tma_load' of !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64> by a tensor map with a box 64x64 and a swizzle of 128 bytes; a slab of one of 2 CTAs is a box 64x32 and a swizzle of 128 bytes}}
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.cluster = array<i32: 2, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.mbarrier_expect_tx"(%full, %0) {bytes = 8192 : i64} : (!bars, index) -> ()
    "tgpu.tma_load"(%a, %0, %full, %map, %0, %0) {multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = true} : () -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// As many CTAs share a tile as there are in a cluster.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.tma_load' for 2 CTAs, and clusters of 1; it is for one or all of them}}
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 32], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.mbarrier_expect_tx"(%full, %0) {bytes = 8192 : i64} : (!bars, index) -> ()
    "tgpu.tma_load"(%a, %0, %full, %map, %0, %0) {multicast = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = true} : () -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// Threads arrive at the CTAs of their cluster.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.mbarrier_arrive' for 4 CTAs, and clusters of 2; it is for one or all of them}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.cluster = array<i32: 2, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.mbarrier_arrive"(%full, %0) {ctas = 4 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!bars, index) -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// A phase waits for the bytes that copies bring.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.mbarrier_expect_tx' of 4096 bytes, and copies of 8192 count there; expect as many}}
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    "tgpu.mbarrier_expect_tx"(%full, %0) {bytes = 4096 : i64} : (!bars, index) -> ()
    "tgpu.tma_load"(%a, %0, %full, %map, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
    omp.terminator
  }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = true} : () -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// Who waits at an mbarrier waits for someone.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has mbarriers 'full' at which someone waits, and no one arrives; a phase has both}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// Who arrives is waited for.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has mbarriers 'full' at which someone arrives, and no one waits; a phase has both}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  "tgpu.mbarrier_arrive"(%full, %0) {ctas = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!bars, index) -> ()
  gpu.return
}
}

// -----

// Copies are in groups.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.cp_async' and no 'tgpu.commit_group' of "cp_async"; nothing says when it is done}}
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  gpu.return
}
}

// -----

// Groups are waited for.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.cp_async' and no 'tgpu.wait_group' of "cp_async"; nothing says when it is done}}
gpu.func @k(%x: !x) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  "tgpu.cp_async"(%a, %0, %x, %0, %0, %0) {rows = [[64, 64]], columns = [[64, 1]], batches = [], offset = [0], clamped = [], guarded = [], bytes = 16 : i64} : (!a, index, !x, index, index, index) -> ()
  "tgpu.commit_group"() {kind = "cp_async"} : () -> ()
  gpu.return
}
}

// -----

// Stores are to the buffer that the tensor map is of.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.tma_store' by a tensor map of buffer 0, which is another one}}
gpu.func @k(%x: !x, %z: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !a
  "tgpu.tma_store"(%a, %0, %z, %map, %0, %0) {operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !x, !tgpu.tensor_map, index, index) -> ()
  gpu.return
}
}

// -----

// A tensor map is an argument, which no loop carries.
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!x = !region.memref<tensor<64x64xf16>, [64, 1], 128 : i64, true>
!bars = !tgpu.mbarrier<2 : i64>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.tma_load' by a tensor map that is no argument of the kernel}}
gpu.func @k(%x: !x, %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = [64, 64], strides = [128], box = [64, 64], swizzle = 128 : i64}}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %p = arith.constant 0 : i32
  %a = "tgpu.alloc_smem"() : () -> !a
  %full = "tgpu.mbarrier_init"() {arrivals = 1 : i64} : () -> !bars
  gpu.barrier
  %1 = arith.constant 1 : index
  %m = scf.for %i = %0 to %1 step %1 iter_args(%map1 = %map) -> (!tgpu.tensor_map) {
    "tgpu.warpgroups"() ({
    ^bb0(%g: index):
      "tgpu.tma_load"(%a, %0, %full, %map1, %0, %0) {multicast = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1, 2>} : (!a, index, !bars, !tgpu.tensor_map, index, index) -> ()
      omp.terminator
    }) {first = 0 : i64, count = 1 : i64, registers = 0 : i64, one_thread = true} : () -> ()
    scf.yield %map1 : !tgpu.tensor_map
  }
  "tgpu.mbarrier_arrive"(%full, %0) {ctas = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0>} : (!bars, index) -> ()
  "tgpu.mbarrier_wait"(%full, %0, %p) : (!bars, index, i32) -> ()
  gpu.return
}
}

// -----

// The threads of a statement have its accumulators.
!acc = !tgpu.acc<tensor<64x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has an accumulator tile 64x128 of 128 threads (64x128 for each wgmma), and 256 threads run the statement; choose other parts}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  %z = "tgpu.zero"() : () -> !acc
  gpu.return
}
}

// -----

// The threads of a role do, not all of the CTA.
!both = !tgpu.acc<tensor<128x128xf32, #tgpu.fragments<"wgmma", 64 : i64, 128 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has an accumulator tile 128x128 of 256 threads (64x128 for each wgmma), and 128 threads run the statement; choose other parts}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  "tgpu.warpgroups"() ({
  ^bb0(%g: index):
    %z = "tgpu.zero"() : () -> !both
    omp.terminator
  }) {first = 0 : i64, count = 2 : i64, registers = 0 : i64, one_thread = false} : () -> ()
  gpu.return
}
}

// -----

// A product of a fragment is waited for before the next turn of a loop has another one in its registers.
!fa = !tgpu.frag<tensor<64x16xf16>, "a">
!a = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!b = !tgpu.smem<tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>, 2 : i64>
!s = tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.wgmma_fragment' whose group no 'tgpu.wait_group' behind it in its block is for; until then its fragment is read, and in the next turn of a loop its registers are others'}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %4 = arith.constant 4 : index
  %1 = arith.constant 1 : index
  %yes = arith.constant true
  %x = "tgpu.alloc_smem"() : () -> !a
  %b = "tgpu.alloc_smem"() : () -> !b
  %z = "tgpu.zero"() : () -> !tgpu.in_flight<!s>
  %r = scf.for %i = %0 to %4 step %1 iter_args(%sums = %z) -> (!tgpu.in_flight<!s>) {
    %a = "tgpu.load_fragment"(%x, %0, %0, %0, %0, %0) ({
    ^bb0(%v: tensor<64x64xf16>):
      "tgpu.yield"(%v) : (tensor<64x64xf16>) -> ()
      omp.terminator
    }) {batches = array<i64>, columns = array<i64: 1>, guarded = [], k = 0 : i64, rows = array<i64: 0>, units = array<i64: 1, 1>} : (!a, index, index, index, index, index) -> !fa
    %n = "tgpu.wgmma_fragment"(%a, %b, %0, %0, %yes, %sums) {k = 0 : i64} : (!fa, !b, index, index, i1, !tgpu.in_flight<!s>) -> !tgpu.in_flight<!s>
    "tgpu.commit_group"() {kind = "wgmma"} : () -> ()
    scf.yield %n : !tgpu.in_flight<!s>
  }
  %o = "tgpu.wait_group"(%r) {kind = "wgmma", pending = 0 : i64, operandSegmentSizes = array<i32: 1>, resultSegmentSizes = array<i32: 1>} : (!tgpu.in_flight<!s>) -> !tgpu.acc<!s>
  gpu.return
}
}
