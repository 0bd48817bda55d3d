// What holds of a kernel's launch beyond grid and CTA, broken one by one.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A cluster has three axes.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.cluster = array<i32: 2>; it must be the CTAs of a cluster, array<i32: x, y, z>}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.cluster = array<i32: 2>} {
  gpu.return
}
}

// -----

// A cluster is no larger than the hardware's.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has clusters of 2x1x1 CTAs; sm_80 takes 1 at most}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.cluster = array<i32: 2, 1, 1>} {
  gpu.return
}
}

// -----

// The grid is of whole clusters; along an axis that depends on sizes the launch tells.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a grid of 4xMx1 CTAs, which clusters of 3x2x1 do not divide; round it up}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.cluster = array<i32: 3, 2, 1>} {
  gpu.return
}
}

// -----

// Dynamic shared memory is a number of bytes.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.dynamic_shared_bytes = -1 : i64; it must be a number of bytes}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.dynamic_shared_bytes = -1 : i64} {
  gpu.return
}
}

// -----

// It is no more than the hardware has.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has 232449 bytes of dynamic shared memory; a CTA has 232448 on sm_90a; choose smaller tiles or fewer stages}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.dynamic_shared_bytes = 232449 : i64} {
  gpu.return
}
}

// -----

// Guards are relations.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.guards = []; it must be relations between extents, [["M", "le", 128]]}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.guards = []} {
  gpu.return
}
}

// -----

// There are two of them.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has the guard ["M", "lt", 8]; it must be two extents and "eq" or "le" between them}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.guards = [["M", "lt", 8]]} {
  gpu.return
}
}

// -----

// Their extents are canonical.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a guard = ["K*2", 8], which is not canonical; write ["2*K", 8]}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.guards = [["K*2", "eq", 8]]} {
  gpu.return
}
}

// -----

// They rest on the kernel's symbols.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k needs the extent 'N' for its guards; give it an index with tgpu.extent = …}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.guards = [["N", "eq", 8]]} {
  gpu.return
}
}

// -----

// A kernel with guards is launched where they are asked.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.guards, which its launch does not ask; name it among the 'alternatives' of a launch}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1], tgpu.guards = [["K", "le", 8]]} {
  gpu.return
}
}
func.func @main() -> tensor<?x?xf16, #tiny.dims<["M", "K"]>> {
  %k = "region.launch"() {kernel = @k} : () -> (() -> tensor<?x?xf16, #tiny.dims<["M", "K"]>>)
  %0 = func.call_indirect %k() : () -> tensor<?x?xf16, #tiny.dims<["M", "K"]>>
  return %0 : tensor<?x?xf16, #tiny.dims<["M", "K"]>>
}

// -----

// Tensor maps are for hardware that takes them.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a tensor map; sm_80 has no TMA, which takes them}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128], swizzle = 128 : i64}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// An argument says what it is a map of.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.tensor_map = None; it must be a dictionary of buffer, dims, strides, box, swizzle}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// All of it.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.tensor_map = {box = [64, 128], buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"]}; it must be a dictionary of}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128]}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// Other arguments are none.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has tgpu.tensor_map on argument 3, which is of type index}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %other: index {tgpu.extent = "N", tgpu.tensor_map = {}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// Its buffer is one of the kernel's.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a tensor map of buffer 1; it has 1, counted from 0}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 1 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128], swizzle = 128 : i64}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// Its numbers are numbers.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a tensor map with swizzle = "K"; it must be a number}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128], swizzle = "K"}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// A box does not depend on sizes.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a tensor map with box = ["K", 128]; its sides are numbers}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = ["K", 128], swizzle = 128 : i64}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// Extents are canonical.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has strides = ["K*2"], which is not canonical; write ["2*K"]}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["K*2"], box = [64, 128], swizzle = 128 : i64}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// They rest on the kernel's symbols.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k needs the extent 'N' for a tensor map; give it an index with tgpu.extent = …}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["N", "M"], strides = ["2*K"], box = [64, 128], swizzle = 128 : i64}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// It is one that hardware has.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has a tensor map of buffer 0, which has a box 128x128 with rows of 256 bytes; a swizzle of 128 takes as many at most}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [128, 128], swizzle = 128 : i64}}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// Tensor maps come last.
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
// expected-error @+1 {{'gpu.func' @k has arguments in the order buffer, extent, extent, tensor map, extent; buffers come first, then workspaces, then status, then extents, then tensor maps}}
gpu.func @k(%x: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
    %map: !tgpu.tensor_map {tgpu.tensor_map = {buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128], swizzle = 128 : i64}},
    %n: index {tgpu.extent = "N"}) kernel
    attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [4, "M", 1]} {
  gpu.return
}
}

// -----

// An alternative says where it takes the kernel's place.
!buffer = !region.memref<tensor<4xf16>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
gpu.func @k(%x: !buffer) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [1, 1, 1]} {
  gpu.return
}
// expected-error @+1 {{'gpu.func' @other is an alternative, and nothing says where; write tgpu.sizes or tgpu.guards}}
gpu.func @other(%x: !buffer) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [1, 1, 1]} {
  gpu.return
}
}
func.func @main() -> tensor<4xf16> {
  %k = "region.launch"() {kernel = @k, alternatives = [@other]} : () -> (() -> tensor<4xf16>)
  %0 = func.call_indirect %k() : () -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
