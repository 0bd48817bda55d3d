// What each op says of itself, wrongly.
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

// A ring has a stage.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.alloc_smem' has !tgpu.smem<tensor<8x4xf32>, 0 : i64>, a ring of 0 : i64 stages; it needs one at least, as i64}}
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 0 : i64>
  gpu.return
}
}

// -----

// Only a ring is allocated.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.alloc_smem' works on a !tgpu.smem, not on index}}
  %a = "tgpu.alloc_smem"() : () -> index
  gpu.return
}
}

// -----

// Sums of 16-bit floats are kept in f32.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.zero' has sums in f16; sums of 16-bit floats are kept in f32, and bools are not summed}}
  %a = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf16>>
  gpu.return
}
}

// -----

// Sums are a tile.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.zero' has !tgpu.acc<3 : i64>, where 3 : i64 is no tensor type}}
  %a = "tgpu.zero"() : () -> !tgpu.acc<3 : i64>
  gpu.return
}
}

// -----

// Only sums are zero.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.zero' works on a !tgpu.acc, not on f32}}
  %a = "tgpu.zero"() : () -> f32
  gpu.return
}
}

// -----

// The body of a load ends in the value.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : index
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf16>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' loads f32 into a tile of f16}}
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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

// A slot is an index.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %s = arith.constant 0 : i32
  %t = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  // expected-error @+1 {{'tgpu.load_tile' has slot of type i32; it must be an index}}
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
  // expected-error @+1 {{'tgpu.yield' ends the body of a 'tgpu.load_tile' and stands nowhere else}}
  "tgpu.yield"(%v) : (tensor<4xf32>) -> ()
  gpu.return
}
}

// -----

// Tiles of a product share their k.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x8xf32>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' adds [8, 4] × [8, 8] to sums of [8, 8]; the tiles do not fit}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<8x8xf32>, 2 : i64>, index, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf32>>
  gpu.return
}
}

// -----

// Rings of a product turn together.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf32>, 1 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' takes the same slot of rings of 2 and 1 stages}}
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

// Sums stay what they are.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : index
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf32>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' gives !tgpu.acc<tensor<8x8xf64>>, and adds to !tgpu.acc<tensor<8x8xf32>>}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<4x8xf32>, 2 : i64>, index, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf64>>
  gpu.return
}
}

// -----

// A slot is an index.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %s = arith.constant 0 : i64
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x4xf32>, 2 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<4x8xf32>, 2 : i64>
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.fma' has slot of type i64; it must be an index}}
  %n = "tgpu.fma"(%a, %b, %s, %z) : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, !tgpu.smem<tensor<4x8xf32>, 2 : i64>, i64, !tgpu.acc<tensor<8x8xf32>>) -> !tgpu.acc<tensor<8x8xf32>>
  gpu.return
}
}

// -----

// An epilogue takes the sums.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer, %o: !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
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
gpu.func @k(%o: !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
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

// An epilogue's value is of the sums' type.
gpu.module @kernels {
gpu.func @k(%o: !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf64>>
  // expected-error @+1 {{'tgpu.epilogue' makes f32 of sums in f64}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf64>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// Every axis of the sums has a role.
gpu.module @kernels {
gpu.func @k(%o: !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has 1 axes in rows, columns and batches, and its sums have 2}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// Each buffer that is read has a kind.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer, %o: !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has kinds = [], and reads 1 buffers; it needs a kind for each}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = []} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// A kind is a word of the layer.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer, %o: !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' has kinds = ["diagonal"]; each must be one of row, column, full, scalar, gather}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%s, %o) {materialize = "gmem"} : (tensor<4x4xf32>, !region.memref<tensor<4x4xf32>, [4, 1], 64 : i64, true>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = ["diagonal"]} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// Outputs have the shape of the sums.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<8x8xf32>>
  // expected-error @+1 {{'tgpu.epilogue' writes fp32 [4], and its sums are fp32 [4, 4]; they must have one shape}}
  "tgpu.epilogue"(%z, %0, %0, %0) ({
  ^bb0(%s: tensor<4x4xf32>):
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = [], kinds = ["row"]} : (!tgpu.acc<tensor<8x8xf32>>, index, index, index) -> ()
  gpu.return
}
}

// -----

// A map writes an output.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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

// A top-k searches.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.topk' must hold one 'tiny.topk'}}
  "tgpu.topk"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A scatter that adds does not put.
!buffer = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  // expected-error @+1 {{'tgpu.scatter_add' must hold one 'tiny.scatter' with op = "add"}}
  "tgpu.scatter_add"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    %i = "tiny.const"() {value = 1 : i32} : () -> tensor<4xi32>
    %w = "tiny.scatter"(%v, %i, %v) {axis = 0 : i64, op = "set"} : (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%w, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// What is added is an element.
gpu.module @kernels {
gpu.func @k(%y: memref<?xf32, #gpu.address_space<global>> {tgpu.tensor = tensor<4xf32>}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1.0 : f64
  // expected-error @+1 {{'tgpu.atomic_add' adds f64 to an element of type f32}}
  "tgpu.atomic_add"(%1, %y, %0) : (f64, memref<?xf32, #gpu.address_space<global>>, index) -> ()
  gpu.return
}
}

// -----

// A buffer is one row of elements.
gpu.module @kernels {
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.atomic_add' works on a memref of one axis, not on index}}
  "tgpu.atomic_add"(%0, %0, %0) : (index, index, index) -> ()
  gpu.return
}
}

// -----

// A status buffer holds i64.
gpu.module @kernels {
gpu.func @k(%y: memref<?xf32, #gpu.address_space<global>> {tgpu.tensor = tensor<4xf32>}) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %0 = arith.constant 0 : index
  // expected-error @+1 {{'tgpu.report_index' notes an index in memref<?xf32, #gpu.address_space<global>>; a status buffer is a memref<2xi64, …>}}
  "tgpu.report_index"(%y, %0) : (memref<?xf32, #gpu.address_space<global>>, index) -> ()
  gpu.return
}
}

// -----

// An element of a map is found by itself; adding updates and ranking are statements of their own.
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
!at = !region.memref<tensor<2xi64>, [1], 64 : i64, true>
!few = !region.memref<tensor<2xf32>, [1], 64 : i64, true>
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
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
!at = !region.memref<tensor<2xi64>, [1], 64 : i64, true>
!few = !region.memref<tensor<2xf32>, [1], 64 : i64, true>
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

// A search yields what it finds.
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
!best = !region.memref<tensor<2xf32>, [1], 64 : i64, true>
func.func @best(%x: !data, %y: !best) {
  // expected-error @+1 {{'tgpu.topk' has 'tiny.topk' beside other results; it must be all that is yielded, once}}
  "tgpu.topk"() ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    %1, %2 = "tiny.topk"(%0) {axis = 0 : i64, k = 2 : i64, largest = true} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi64>)
    %3 = "tiny.neg"(%1) : (tensor<2xf32>) -> tensor<2xf32>
    "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<2xf32>, !best) -> ()
    omp.terminator
  }) : () -> ()
  return
}

// -----

// A tile is loaded element by element.
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
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
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
func.func @load(%x: !data, %tiles: !tgpu.smem<tensor<8x4xf32>, 2 : i64>, %at: index) {
  // expected-error @+1 {{'tgpu.load_tile' has guarded = "rows"; it must be a list of rows, columns}}
  "tgpu.load_tile"(%tiles, %at, %at, %at, %at) ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    "tgpu.yield"(%0) : (tensor<4xf32>) -> ()
    omp.terminator
  }) {rows = array<i64: 0>, columns = array<i64>, batches = array<i64>, guarded = "rows"} : (!tgpu.smem<tensor<8x4xf32>, 2 : i64>, index, index, index, index) -> ()
  return
}

// -----

// Each output says where it goes.
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
func.func @copy(%x: !data, %y: !data) {
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!data) -> tensor<4xf32>
    // expected-error @+1 {{'region.yield' needs 'materialize', "gmem" or "deferred", not None}}
    "region.yield"(%0, %y) : (tensor<4xf32>, !data) -> ()
    omp.terminator
  }) : () -> ()
  return
}

// -----

// A scatter says whether it adds.
!data = !region.memref<tensor<4xf32>, [1], 64 : i64, true>
!at = !region.memref<tensor<4xi32>, [1], 64 : i64, true>
func.func @adds(%x: !data, %i: !at, %y: !data) {
  // expected-error @+1 {{'tgpu.scatter_add' must hold one 'tiny.scatter' with op = "add"}}
  "tgpu.scatter_add"() ({
    %u = "region.read"(%x) : (!data) -> tensor<4xf32>
    %v = "region.read"(%i) : (!at) -> tensor<4xi32>
    %w = "tiny.scatter"(%u, %v, %u) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%w, %y) {materialize = "gmem"} : (tensor<4xf32>, !data) -> ()
    omp.terminator
  }) : () -> ()
  return
}

// -----

// Floats are not summed up in integers.
!tile = !tgpu.smem<tensor<8x8xf32>, 1 : i64>
!sums = !tgpu.acc<tensor<8x8xi32>>
func.func @multiply(%a: !tile, %b: !tile, %slot: index, %sums: !sums) {
  // expected-error @+1 {{'tgpu.fma' adds products of f32 to sums in i32; both are floats, or both integers}}
  %0 = "tgpu.fma"(%a, %b, %slot, %sums) : (!tile, !tile, index, !sums) -> !sums
  return
}
