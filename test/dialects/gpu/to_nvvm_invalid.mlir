// RUN: tinyc-opt --gpu-to-nvvm --split-input-file --verify-diagnostics %s

// A thread has no memory of its own.
gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    // expected-error @+1 {{'memref.alloca' is not an op of a kernel at the scalar level; write memory accesses as memref.load and memref.store of a one-dimensional buffer [TC205 NoGpuKernel]}}
    %0 = memref.alloca() : memref<4xf32>
    gpu.return
  }
}

// -----

// A buffer has one dense axis.
!buffer = memref<?x?xf32, #gpu.address_space<global>>
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' @k: argument 0 is memref<?x?xf32, #gpu.address_space<global>>; a kernel takes one-dimensional memrefs in global memory, indices and tensor maps, and shared memory is a memref.global [TC205 NoGpuKernel]}}
  gpu.func @k(%x: !buffer) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

// Control flow is scf's.
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' @k is not a kernel of one block; write it as kernel, its control flow as scf [TC205 NoGpuKernel]}}
  gpu.func @k() kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    cf.br ^bb1
  ^bb1:
    gpu.return
  }
}

// -----

// Shared memory starts with nothing in it.
gpu.module @kernels {
  // expected-error @+1 {{'memref.global' of memref<4xf32, #gpu.address_space<workgroup>> is not shared memory; it must have one axis and be uninitialized there [TC205 NoGpuKernel]}}
  memref.global "private" @table : memref<4xf32, #gpu.address_space<workgroup>> = dense<0.0>
}

// -----

// Shared memory belongs to the CTA, and is not an argument.
!tile = memref<4xf32, #gpu.address_space<workgroup>>
gpu.module @kernels {
  // expected-error @+1 {{'gpu.func' @k: argument 0 is memref<4xf32, #gpu.address_space<workgroup>>; a kernel takes one-dimensional memrefs in global}}
  gpu.func @k(%x: !tile) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.return
  }
}

// -----

// A shuffle is one of a whole warp.
gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c1 = arith.constant 1 : i32
    %part = arith.constant 16 : i32
    // expected-error @+1 {{'gpu.shuffle' of i32 is none that a kernel may have; shuffle i32, f32, i64, f64 with a constant width of 32, and compare lane numbers instead of asking whether there was a lane [TC205 NoGpuKernel]}}
    %0, %1 = gpu.shuffle xor %c1, %c1, %part : i32
    gpu.return
  }
}
