// What `tgpu.fma` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// Tiles of a product share their k.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x8xf32>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' multiplies 8x4 by 8x8 into an accumulator 8x8; tiles are MxK, KxN and MxN}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<8x8xf32>, 2 : i64>, index, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf32>>
  gpu.return
}
}

// -----

// The buffers of a product turn together.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf32>, 1 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' reads one stage of buffers of 2 and 1 stages; give both as many}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<4x8xf32>, 1 : i64>, index, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf32>>
  gpu.return
}
}

// -----

// Operands of a product have one type.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf16>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' multiplies f32 by f16; operands of a product have one element type}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<4x8xf16>, 2 : i64>, index, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf32>>
  gpu.return
}
}

// -----

// An accumulator stays what it is.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf32>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' gives !tgpu.acc<tensor<8x8xf64>>, and adds to !tgpu.acc<tensor<8x8xf32>>; give both one type}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<4x8xf32>, 2 : i64>, index, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf64>>
  gpu.return
}
}

// -----

// A stage is an index.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : i64
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf32>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' has stage of type i64; it must be an index}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<4x8xf32>, 2 : i64>, i64, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf32>>
  gpu.return
}
}

// -----

// Floats do not accumulate in integers.
!tile = !tgpu.smem<tensor<8x8xf32>, 1 : i64>
!acc = !tgpu.acc<tensor<8x8xi32>>
func.func @multiply(%a: !tile, %b: !tile, %stage: index, %acc: !acc) {
  // expected-error @+1 {{'tgpu.fma' accumulates products of f32 in i32; use floats for both, or integers}}
  %0 = "tgpu.fma"(%a, %b, %stage, %acc) : (!tile, !tile, index, !acc) -> !acc
  return
}
