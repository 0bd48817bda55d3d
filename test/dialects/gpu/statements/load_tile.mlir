// What `tgpu.load_tile` says of itself, wrongly.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// The body of a load ends in the value.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' must end in a 'tgpu.yield'}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// The body of a load computes with what a region may.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' may hold 'region.read' and Tiny ops only, not 'arith.constant'}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    %c = arith.constant 1 : index
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// The body of a load takes nothing.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has a body of 1 arguments; it takes 0}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    ^bb0(%z: index):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// A tile holds what it is loaded with.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf16>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' loads f32 into a tile of f16; give both one element type}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf16>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// Rows are axes of the value.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has rows [1], columns [], batches []; they must be distinct axes of its value, which has 1}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 1>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// An axis has one role.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has rows [0], columns [0], batches []; they must be distinct axes of its value, which has 1}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 0>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// Axes are an array of integers.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has rows = [0]; it must be array<i64: …>}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = [0], columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// A side that is guarded is one of the tile's.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has guarded = ["m"]; each must be one of rows, columns}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = ["m"]} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// A side is guarded once.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has guarded = ["rows", "rows"]; it names a side twice}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = ["rows", "rows"]} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// A stage is an index.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : i32
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has stage of type i32; it must be an index}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, i32, index, index, index) -> ()
  gpu.return
}
}

// -----

// Every attribute is given.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' lacks the attribute 'guarded'}}
  "tgpu.load_tile"(%t, %s, %0, %0, %0) ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  gpu.return
}
}

// -----

// A value is yielded where a tile is loaded.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %v = "tiny.const"() {value = 1.0 : f32} : () -> tensor<4xf32>
  // expected-error @+1 {{'tgpu.yield' ends the body of a 'tgpu.load_tile' or 'tgpu.load_fragment' and stands nowhere else}}
  "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
  gpu.return
}
}

// -----

// A tile is loaded element by element.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
func.func @load(%x: !data, %tiles: !tgpu.smem<tensor<8x4xf32>, 2 : i64>, %at: index) {
  // expected-error @+1 {{'tgpu.load_tile' may not hold 'tiny.topk', which has statements of its own}}
  "tgpu.load_tile"(%tiles, %at, %at, %at, %at) ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    %1, %2 = "tiny.topk"(%0) {axis = 0 : i64, k = 2 : i64, largest = true} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
    "tgpu.yield"(%1) : (tensor<2xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = []} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  return
}

// -----

// Sides are a list.
!data = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
func.func @load(%x: !data, %tiles: !tgpu.smem<tensor<8x4xf32>, 2 : i64>, %at: index) {
  // expected-error @+1 {{'tgpu.load_tile' has guarded = "rows"; it must be a list, […]}}
  "tgpu.load_tile"(%tiles, %at, %at, %at, %at) ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    "tgpu.yield"(%0) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = "rows"} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  return
}
