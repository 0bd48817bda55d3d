// What holds of a kernel as a whole, broken one by one.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// Every function is a kernel.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k is not a kernel; the layer has no functions to call}}
gpu.func @k(%x: !buffer, %y: !buffer) attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A name is one in PTX.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k$1 is not a name in PTX; use letters, digits and '_', a letter first}}
gpu.func @k$1(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A kernel knows its CTA.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has known_block_size = None; it must be the CTA's threads, array<i32: x, y, z>}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A CTA is no larger than the hardware's.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a CTA of 32x64x1 threads; sm_80 takes 1024 at most, and 1024x1024x64 along x, y and z}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 32, 64, 1>} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A grid has three axes.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has tgpu.grid = [1, 1]; it must be the CTAs along x, y and z, [1, "M", 1]}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A grid is one that the hardware launches.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a grid of 8x99999x1 CTAs; sm_80 launches 2147483647x65535x65535 at most along x, y and z}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [8, 99999, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A grid is canonical.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has tgpu.grid = ["M*2", 1, 1], which is not canonical; write ["2*M", 1, 1]}}
gpu.func @k(%x: !buffer, %y: !buffer, %M: index {tgpu.extent = "M"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["M*2", 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A grid rests on the kernel's symbols.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k needs the extent 'M' for its grid; give it an index with tgpu.extent = …}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["M", 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// There are no fewer than no CTAs.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a grid of -1x1x1 CTAs; none can be below 0}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [-1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A plan is a dictionary.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has tgpu.plan = 3 : i64, which is not a plan: a plan is an object of fields, such as {"tile": [64, 64, 32]}}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.plan = 3} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Buffers come first.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has arguments in the order buffer, extent, buffer; buffers come first, then workspaces, then status, then extents, then tensor maps}}
gpu.func @k(%x: !buffer, %M: index {tgpu.extent = "M"}, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Names are distinct.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has two arguments of one name: x, x}}
gpu.func @k(%x: !buffer {tgpu.name = "x"}, %y: !buffer {tgpu.name = "x"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A buffer's name is an identifier.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has the buffer name "a b"; use letters, digits and '_', a letter first}}
gpu.func @k(%x: !buffer {tgpu.name = "a b"}, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// An index is the extent of a symbol.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has an index as argument 2 that is not an extent; name its symbol, tgpu.extent = …}}
gpu.func @k(%x: !buffer, %y: !buffer, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// An argument is one of three things.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has argument 2 of type f32; it takes buffers, a status buffer, extents and tensor maps}}
gpu.func @k(%x: !buffer, %y: !buffer, %i: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A status buffer is two words.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a status buffer of type memref<2xi32>; it must be a memref<36xi64, …>}}
gpu.func @k(%x: !buffer, %y: !buffer, %s: memref<2xi32> {tgpu.status}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Extents of buffers are arguments.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k needs the extent 'M' for its buffers; give it an index with tgpu.extent = …}}
gpu.func @k(%x: !buffer, %y: !buffer, %z: !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Extents of what is computed are arguments.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k needs the extent 'N' for 'tiny.const'; give it an index with tgpu.extent = …}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %c = "tiny.const"() {value = 1.0 : f32} : () -> tensor<?xf32, #tiny.dims<["N"]>>
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// A kernel that takes indices from data can note one that is out of range.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has 'tiny.gather' and no status buffer, which notes an index out of range}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    %i = "tiny.const"() {value = 1 : i32} : () -> tensor<4xi32>
    %w = "tiny.gather"(%v, %i) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
    "region.yield"(%w, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// The kernel that is launched before is one.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has tgpu.init = @none; it must name a kernel that needs no other before it}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.init = @none} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Both are launched with the same arguments.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @first() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
  gpu.return
}
// expected-error @+1 {{'gpu.func' @k is launched after @first, and their arguments differ; they are launched with the same ones}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.init = @first} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// What the host launches has a grid.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has tgpu.grid = None; it must be the CTAs along x, y and z, [1, "M", 1]}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Shared memory is allocated by a statement.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has memory attributions; shared memory is a 'tgpu.alloc_smem', or a memref.global of the module}}
gpu.func @k(%x: !buffer, %y: !buffer) workgroup(%w: memref<4xf32, 3>) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Statements are not branched over.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has several blocks; statements stand in one, and in the loops of scf}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  cf.br ^bb1
  ^bb1:
  gpu.return
}
}

// -----

// Each thread has as much of an accumulator.
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has an accumulator tile 64x48 that is not divisible by 32x32 (16x16 threads, 2x2 each); choose a multiple}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %z = "tgpu.zero"() : () -> !tgpu.acc<tensor<64x48xf32>>
  gpu.return
}
}

// -----

// Tiles fit the shared memory of a CTA.
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has 49408 bytes of tiles in shared memory; a CTA has 49152 on sm_80; choose smaller tiles or fewer stages}}
gpu.func @k() kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
  %a = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<64x32xf64>, 3 : i64>
  %b = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<1x32xf64>, 1 : i64>
  gpu.return
}
}

// -----

// The kernels of a program are one module.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
// expected-error @+1 {{'gpu.module' is the second one; the kernels of a program are one module}}
gpu.module @more {
}

// -----

// A launch takes the kernel's inputs and gives its outputs.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
func.func @main(%a: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{'region.launch' gives (tensor<5xf32>) -> tensor<5xf32>, and @k takes tensor<4xf32>, tensor<4xf32>}}
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<5xf32>) -> tensor<5xf32>)
  %0 = call_indirect %k(%a) : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// A launch is of a kernel that there is.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'region.launch' of @l: there is no such kernel in the module}}
  %k = "region.launch"() {kernel = @l} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A launch names the kernel alone, not the module that it is in.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'region.launch' of @kernels::@k: there is no such kernel in the module}}
  %k = "region.launch"() {kernel = @kernels::@k} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The host states what a GPU kernel relies on, as it does for a region.
gpu.module @kernels {
gpu.func @k(%x: !region.memref<tensor<?x?xf32, #tiny.dims<["A", "B"]>>, ["B", 1], 128 : i64, true>, %y: !region.memref<tensor<?xf32, #tiny.dims<["C"]>>, [1], 128 : i64, true>,
    %A: index {tgpu.extent = "A"}, %B: index {tgpu.extent = "B"}, %C: index {tgpu.extent = "C"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!region.memref<tensor<?x?xf32, #tiny.dims<["A", "B"]>>, ["B", 1], 128 : i64, true>) -> tensor<?x?xf32, #tiny.dims<["A", "B"]>>
    %w = "tiny.reshape"(%v) : (tensor<?x?xf32, #tiny.dims<["A", "B"]>>) -> tensor<?xf32, #tiny.dims<["C"]>>
    "region.yield"(%w, %y) {materialize = "gmem"} : (tensor<?xf32, #tiny.dims<["C"]>>, !region.memref<tensor<?xf32, #tiny.dims<["C"]>>, [1], 128 : i64, true>) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
func.func @main(%a: tensor<?x?xf32, #tiny.dims<["A", "B"]>>) -> tensor<?xf32, #tiny.dims<["C"]>> {
  // expected-error @+1 {{'region.launch': 'tiny.reshape' in the kernel relies on A*B == C, which nothing states}}
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<?x?xf32, #tiny.dims<["A", "B"]>>) -> tensor<?xf32, #tiny.dims<["C"]>>)
  %0 = call_indirect %k(%a) : (tensor<?x?xf32, #tiny.dims<["A", "B"]>>) -> tensor<?xf32, #tiny.dims<["C"]>>
  return %0 : tensor<?xf32, #tiny.dims<["C"]>>
}

// -----

// Values are computed in the bodies of statements.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has 'region.read' beside its statements; it may have scf.for, scf.if, arith and positions in the grid}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
  %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  gpu.return
}
}

// -----

// Only statements work on accumulators.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a tile as an operand of 'arith.select'; loops carry accumulators, and statements take tiles}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
  %zero = "tgpu.zero"() : () -> !tgpu.acc<tensor<32x32xf32>>
  %true = arith.constant true
  %either = arith.select %true, %zero, %zero : !tgpu.acc<tensor<32x32xf32>>
  gpu.return
}
}

// -----

// A circular buffer is where it is: no loop carries it.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a tile as an operand of 'scf.for'; loops carry accumulators, and statements take tiles}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
  %c1 = arith.constant 1 : index
  %buffer = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x8xf32>, 2 : i64>
  %last = scf.for %i = %c1 to %c1 step %c1 iter_args(%tiles = %buffer) -> (!tgpu.smem<tensor<8x8xf32>, 2 : i64>) {
    scf.yield %tiles : !tgpu.smem<tensor<8x8xf32>, 2 : i64>
  }
  gpu.return
}
}

// -----

// Shared memory is reserved once.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k has a 'tgpu.alloc_smem' in a loop; shared memory is reserved once, in front of it}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
  %c1 = arith.constant 1 : index
  scf.for %i = %c1 to %c1 step %c1 {
    %buffer = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<8x8xf32>, 2 : i64>
  }
  gpu.return
}
}

// -----

// No thread waits for what threads of other CTAs write.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k reads a buffer that it writes; what lies between statements of one kernel are values}}
gpu.func @k(%x: !buffer, %y: !buffer, %z: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  "tgpu.map"() ({
    %v = "region.read"(%y) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %z) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Outputs are the last buffers.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
// expected-error @+1 {{'gpu.func' @k writes a buffer that others come after; its outputs are the last ones}}
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%y) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %x) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// What may be one memory are pairs of buffers by their numbers.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!narrow = !region.memref<tensor<4xf16>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.in_place = [1, 2]; it must be pairs of the numbers of buffers, such as [array<i64: 0, 1>]}}
gpu.func @k(%x: !narrow, %z: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.in_place = [1, 2]} {
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!narrow) -> tensor<4xf16>
    %1 = "tiny.cast"(%0) : (tensor<4xf16>) -> tensor<4xf32>
    %2 = "region.read"(%z) : (!buffer) -> tensor<4xf32>
    %3 = "tiny.add"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// They are buffers that there are.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!narrow = !region.memref<tensor<4xf16>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.in_place = [array<i64: 1, 3>]; it must be pairs of the numbers of buffers, such as [array<i64: 0, 1>]}}
gpu.func @k(%x: !narrow, %z: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.in_place = [array<i64: 1, 3>]} {
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!narrow) -> tensor<4xf16>
    %1 = "tiny.cast"(%0) : (tensor<4xf16>) -> tensor<4xf32>
    %2 = "region.read"(%z) : (!buffer) -> tensor<4xf32>
    %3 = "tiny.add"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Their elements are of the same width.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!narrow = !region.memref<tensor<4xf16>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.in_place of fp16 [4] and fp32 [4]; one must be read and the other written, of as many elements of the same width}}
gpu.func @k(%x: !narrow, %z: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.in_place = [array<i64: 0, 2>]} {
  "tgpu.map"() ({
    %0 = "region.read"(%x) : (!narrow) -> tensor<4xf16>
    %1 = "tiny.cast"(%0) : (tensor<4xf16>) -> tensor<4xf32>
    %2 = "region.read"(%z) : (!buffer) -> tensor<4xf32>
    %3 = "tiny.add"(%1, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}

// -----

// Rules are those of a chip that is known.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
// expected-error @+1 {{'gpu.module' is for sm_99, of which nothing is known; choose sm_80 or sm_90a}}
gpu.module @kernels [#nvvm.target<chip = "sm_99">] {
gpu.func @k(%x: !buffer, %y: !buffer) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
  "tgpu.map"() ({
    %v = "region.read"(%x) : (!buffer) -> tensor<4xf32>
    "region.yield"(%v, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
    omp.terminator
  }) : () -> ()
  gpu.return
}
}
