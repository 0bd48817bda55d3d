// RUN: tinyc-opt --region-to-exec --split-input-file --verify-diagnostics %s

// A module without functions of tensors has nothing to launch.
// expected-error @unknown {{the module has no function to run; it needs one of tensors, called @main [TC309 InvalidIr]}}
func.func @f(%x: memref<4xf32>) {
  return
}

// -----

// The kernels are still regions: loops no longer say what they launch.
// expected-error @unknown {{@copy is not a region.kernel; run --region-to-exec before --region-to-loops}}
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = "region.launch"() {kernel = @copy} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = func.call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// The host function computes nothing.
// expected-error @unknown {{it computes 'tiny.neg' itself; --tiny-to-region puts every op into a kernel}}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.neg"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A result has a buffer of its own.
// expected-error @unknown {{result 0 is an argument; --tiny-to-region makes each the result of a launch}}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// A gpu.func at the scalar level no longer says what its buffers hold.
// expected-error @unknown {{gpu.func @copy is expanded already; run --region-to-exec before --gpu-expand}}
gpu.module @kernels {
  gpu.func @copy(%x: memref<?xf32, #gpu.address_space<global>>, %y: memref<?xf32, #gpu.address_space<global>>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    gpu.return
  }
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = "region.launch"() {kernel = @copy} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = func.call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
