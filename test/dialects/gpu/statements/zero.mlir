// What `tgpu.zero` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// 16-bit floats accumulate in f32.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.zero' accumulates in f16; accumulate 16-bit floats in f32, and no bools}}
  %a = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf16>>
  gpu.return
}
}

// -----

// An accumulator is a tile.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.zero' has !tgpu.acc<3 : i64>, where 3 : i64 is not a tensor type}}
  %a = "tgpu.zero"() : () -> !tgpu.acc<3 : i64>
  gpu.return
}
}

// -----

// Only an accumulator is zero.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.zero' takes a !tgpu.acc, not f32}}
  %a = "tgpu.zero"() : () -> f32
  gpu.return
}
}
