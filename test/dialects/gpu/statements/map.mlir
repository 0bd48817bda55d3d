// What `tgpu.map` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A map writes an output.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.map' must end in a 'region.yield' for each output}}
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// An output is not read.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.map' must write each output once, and read none}}
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %x) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// An output has memory.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.map' has a deferred output; a kernel writes all of its outputs to gmem}}
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "deferred"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A map computes with what a region may.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.map' may hold 'region.read' and Tiny ops only, not 'gpu.barrier'}}
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    gpu.barrier
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// An element of a map is found by itself; adding updates and ranking are statements of their own.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!at = !region.memref<tensor<2xi64>, [1], 128 : i64, true>
!few = !region.memref<tensor<2xf32>, [1], 128 : i64, true>
func.func @add(%x: !data, %i: !at, %u: !few, %y: !data) {
  // expected-error @+1 {{'tgpu.map' may not hold 'tiny.scatter', which has statements of its own}}
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    %1 = "region.read"(%i) : (!at) -> tensor<2xi64>
    %2 = "region.read"(%u) : (!few) -> tensor<2xf32>
    %3 = "tiny.scatter"(%0, %1, %2) {axis = 0 : i64, op = "add"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
    "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<4xf32>, !data) -> ()
    omp.terminator
  }) : () -> ()
  return
}

// -----

// What a scatter puts is what is written.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!at = !region.memref<tensor<2xi64>, [1], 128 : i64, true>
!few = !region.memref<tensor<2xf32>, [1], 128 : i64, true>
func.func @put(%x: !data, %i: !at, %u: !few, %y: !data) {
  // expected-error @+1 {{'tgpu.map' has 'tiny.scatter' beside other results; it must be all that is yielded, once}}
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    %1 = "region.read"(%i) : (!at) -> tensor<2xi64>
    %2 = "region.read"(%u) : (!few) -> tensor<2xf32>
    %3 = "tiny.scatter"(%0, %1, %2) {axis = 0 : i64, op = "set"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32>
    %4 = "tiny.neg"(%3) : (tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%4, %y) {materialize = "gmem"} : (tensor<4xf32>, !data) -> ()
    omp.terminator
  }) : () -> ()
  return
}

// -----

// Each output says where it goes.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
func.func @copy(%x: !data, %y: !data) {
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    // expected-error @+1 {{'region.yield' needs 'materialize', "gmem" or "deferred", not None}}
    "region.yield"(%0, %y) : (tensor<4xf32>, !data) -> ()
    omp.terminator
  }) : () -> ()
  return
}
