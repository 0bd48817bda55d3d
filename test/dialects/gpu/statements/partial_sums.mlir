// What `tgpu.store_partial` and `tgpu.add_partial` say of themselves, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// Accumulators of pairs of columns are handed on.
!thread = !tgpu.acc<tensor<64x64xf32>>
!w = !region.memref<tensor<2x64x64xf32>, [4096, 64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !thread
  // expected-error @+1 {{'tgpu.store_partial' hands on !tgpu.acc<tensor<64x64xf32>>; the threads of #tgpu.fragments have pairs of columns, which it takes}}
  "tgpu.store_partial"(%z, %w, %0, %0, %0) : (!thread, !w, index, index, index) -> ()
  gpu.return
}
}

// -----

// They are ready.
!flying = !tgpu.in_flight<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
!w = !region.memref<tensor<2x64x64xf32>, [4096, 64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !flying
  // expected-error @+1 {{which tensor cores still add to; wait for it with 'tgpu.wait_group'}}
  "tgpu.store_partial"(%z, %w, %0, %0, %0) : (!flying, !w, index, index, index) -> ()
  gpu.return
}
}

// -----

// The workspace has planes of sums.
!acc = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
!w = !region.memref<tensor<64x64xf32>, [64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.store_partial' takes a workspace of fp32 [64, 64]; it must have planes, rows and columns of f32}}
  "tgpu.store_partial"(%z, %w, %0, %0, %0) : (!acc, !w, index, index, index) -> ()
  gpu.return
}
}

// -----

// It is a buffer.
!acc = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{'tgpu.store_partial' takes a workspace of type index; it must be a !region.memref}}
  "tgpu.store_partial"(%z, %0, %0, %0, %0) : (!acc, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// What is added to is what comes out.
!acc = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
!other = !tgpu.acc<tensor<64x32xf32, #tgpu.fragments<"wgmma", 64 : i64, 32 : i64>>>
!w = !region.memref<tensor<2x64x64xf32>, [4096, 64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
gpu.func @k(%w: !w {tgpu.workspace}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !acc
  // expected-error @+1 {{give both one type}}
  %s = "tgpu.add_partial"(%z, %w, %0, %0, %0) : (!acc, !w, index, index, index) -> !other
  gpu.return
}
}

// -----

// The workspace is an argument that says so.
!acc = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
!w = !region.memref<tensor<2x64x64xf32>, [4096, 64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has a statement on a workspace that is none of its arguments with tgpu.workspace}}
gpu.func @k(%w: !w) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !acc
  "tgpu.store_partial"(%z, %w, %0, %0, %0) : (!acc, !w, index, index, index) -> ()
  gpu.return
}
}

// -----

// A branch around statements gives no values.
!acc = !tgpu.acc<tensor<64x64xf32, #tgpu.fragments<"wgmma", 64 : i64, 64 : i64>>>
!w = !region.memref<tensor<2x64x64xf32>, [4096, 64, 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
// expected-error @+1 {{'gpu.func' @k has an 'scf.if' that gives values; a branch around statements gives none}}
gpu.func @k(%w: !w {tgpu.workspace}, %m: index {tgpu.extent = "M"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
  %y = "tgpu.zero"() : () -> !acc
  %z = "tgpu.zero"() : () -> !acc
  %is_none = arith.cmpi eq, %m, %m : index
  %s = scf.if %is_none -> (!acc) {
    scf.yield %y : !acc
  } else {
    scf.yield %z : !acc
  }
  gpu.return
}
}
