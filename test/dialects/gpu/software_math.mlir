// RUN: tinyc-opt --gpu-to-nvvm --split-input-file %s | filecheck %s

// NVPTX has no instruction for tanh: it becomes a polynomial near 0, and a quotient of a power of two elsewhere, with
// the sign of the argument.
// CHECK-LABEL: llvm.func @tanh(
// CHECK-NOT: llvm.call
// CHECK: %[[X:.*]] = llvm.load
// CHECK: %[[SIZE:.*]] = llvm.intr.fabs(%[[X]])
// CHECK: %[[SMALL:.*]] = llvm.intr.fma
// CHECK: %[[QUOTIENT:.*]] = llvm.fdiv
// CHECK: %[[LARGE:.*]] = llvm.fsub %{{.*}}, %[[QUOTIENT]]
// CHECK: %[[IS_LARGE:.*]] = llvm.fcmp "oge" %[[SIZE]]
// CHECK: %[[VALUE:.*]] = llvm.select %[[IS_LARGE]], %[[LARGE]], %{{.*}}
// CHECK: llvm.intr.copysign(%[[VALUE]], %[[X]])
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @tanh(%x: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "x"},
                 %y: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<?xf32, #gpu.address_space<global>>
    %1 = math.tanh %0 : f32
    memref.store %1, %y[%i] : memref<?xf32, #gpu.address_space<global>>
    gpu.return
  }
}

// -----

// What NVPTX has instructions for stays one op.
// CHECK-LABEL: llvm.func @floor_of_root(
// CHECK: %[[ROOT:.*]] = llvm.intr.sqrt
// CHECK-NEXT: llvm.intr.floor(%[[ROOT]])
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @floor_of_root(%x: memref<?xf64, #gpu.address_space<global>> {tgpu.name = "x"},
                          %y: memref<?xf64, #gpu.address_space<global>> {tgpu.name = "y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %i = gpu.thread_id x
    %0 = memref.load %x[%i] : memref<?xf64, #gpu.address_space<global>>
    %1 = math.sqrt %0 : f64
    %2 = math.floor %1 : f64
    memref.store %2, %y[%i] : memref<?xf64, #gpu.address_space<global>>
    gpu.return
  }
}
