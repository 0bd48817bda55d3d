// What `tgpu.alloc_smem` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A tile has two axes.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.alloc_smem' has !tgpu.smem<tensor<64xf32>, 2 : i64>; a tile has two axes of known extents above 0}}
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<64xf32>, 2 : i64>
  gpu.return
}
}

// -----

// A circular buffer has a stage.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.alloc_smem' has !tgpu.smem<tensor<8x4xf32>, 0 : i64>, a circular buffer of 0 : i64 stages; give it at least one, as i64}}
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 0 : i64>
  gpu.return
}
}

// -----

// Only a circular buffer is allocated.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.alloc_smem' takes a !tgpu.smem, not index}}
  %a = "tgpu.alloc_smem"() : () -> index
  gpu.return
}
}
