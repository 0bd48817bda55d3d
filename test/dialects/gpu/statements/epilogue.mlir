// What `tgpu.epilogue` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An epilogue takes the accumulated tensor.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer, %o: !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has a body of 0 arguments; it takes 1}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// An epilogue writes an output.
gpu.module @kernels {
gpu.func @k(%o: !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' must end in a 'region.yield' for each output}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// An epilogue's value is of the accumulator's type.
gpu.module @kernels {
gpu.func @k(%o: !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf64>>
  // expected-error @+1 {{'tgpu.epilogue' makes f32 of an accumulator in f64; accumulate in f32}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf64>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// Every axis of the accumulated tensor has a role.
gpu.module @kernels {
gpu.func @k(%o: !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has 1 axes in rows, columns and batches, and the accumulated tensor has 2}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// Each buffer that is read has a broadcast kind.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer, %o: !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has kinds = [], and reads 1 buffers; give a broadcast kind for each}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// A kind is a word of the layer.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer, %o: !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has kinds = ["diagonal"]; each must be one of row, column, full, scalar, gather}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = ["diagonal"]} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// Outputs have the shape of the accumulated tensor.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has no one place in its results for an element of fp32 [4, 4]: 'v0_copy' has another shape, and does not read what is summed}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = ["row"]} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}
