// What CUDA text cannot be made of is refused, and the message says what to run instead.
// RUN: tinyc-opt %s --split-input-file --verify-diagnostics --gpu-to-cuda

// There is no kernel.
// expected-error@unknown {{there is no gpu.func to print; --region-to-gpu makes them from regions}}
module {
}

// -----

// An op that no kernel at the scalar level has.
gpu.module @kernels {
  gpu.func @copies(%x: memref<?xf32, #gpu.address_space<global>>, %y: memref<?xf32, #gpu.address_space<global>>) kernel {
    // expected-error @+1 {{CUDA text has no spelling for 'memref.copy'; run --gpu-expand first}}
    memref.copy %x, %y : memref<?xf32, #gpu.address_space<global>> to memref<?xf32, #gpu.address_space<global>>
    gpu.return
  }
}
