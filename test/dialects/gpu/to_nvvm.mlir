// RUN: tinyc-opt --gpu-to-nvvm --split-input-file %s | filecheck %s

// Buffers are pointers to global memory that alias nothing, read-only where nothing is written through them; extents
// are i64. The host beside the kernels is not touched.
// CHECK: func.func @main() -> index {
// CHECK-NEXT: arith.constant 4 : index
// CHECK: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: llvm.func @copy(%[[X:.*]]: !llvm.ptr<1> {llvm.align = {{[0-9]+}} : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: %[[Y:.*]]: !llvm.ptr<1> {llvm.align = {{[0-9]+}} : i64, llvm.noalias}, %[[N:.*]]: i64)
// CHECK-SAME: attributes {gpu.kernel, nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 16, 16, 1>}
// CHECK: %[[TID:.*]] = nvvm.read.ptx.sreg.tid.y : i32
// CHECK: %[[THREAD:.*]] = llvm.zext %[[TID]] : i32 to i64
// CHECK: nvvm.read.ptx.sreg.ctaid.z : i32
// CHECK: nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK: %[[INDEX:.*]] = llvm.add %{{.*}}, %[[N]] : i64
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[X]][%[[THREAD]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK: %[[VALUE:.*]] = llvm.load %[[FROM]] : !llvm.ptr<1> -> bf16
// CHECK: %[[TO:.*]] = llvm.getelementptr %[[Y]][%[[INDEX]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, bf16
// CHECK: llvm.store %[[VALUE]], %[[TO]] : bf16, !llvm.ptr<1>
// CHECK: llvm.return
!buffer = memref<?xbf16, #gpu.address_space<global>>
func.func @main() -> index {
  %0 = arith.constant 4 : index
  return %0 : index
}
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  gpu.func @copy(%x: !buffer {tgpu.name = "x", tgpu.tensor = tensor<?xbf16, #tiny.dims<["N"]>>},
                 %y: !buffer {tgpu.name = "y", tgpu.tensor = tensor<?xbf16, #tiny.dims<["N"]>>},
                 %n: index {tgpu.extent = "N"})
      kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
    %thread = gpu.thread_id y
    %block = gpu.block_id z
    %blocks = gpu.grid_dim x
    %0 = arith.addi %block, %blocks : index
    %1 = arith.addi %0, %n : index
    %2 = memref.load %x[%thread] : !buffer
    memref.store %2, %y[%1] : !buffer
    gpu.return
  }
}

// -----

// Shared memory is a global in address space 3; loops and branches are blocks.
// CHECK: llvm.mlir.global internal @sum_A() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<256 x f32>
// CHECK-LABEL: llvm.func @sum(
// CHECK: %[[TILE:.*]] = llvm.mlir.addressof @sum_A : !llvm.ptr<3>
// CHECK: llvm.getelementptr %[[TILE]][%{{.*}}] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, f32
// CHECK: nvvm.barrier
// CHECK: llvm.br ^[[HEAD:.*]](%{{.*}}, %{{.*}} : i64, f32)
// CHECK: ^[[HEAD]](%[[K:.*]]: i64, %[[SUM:.*]]: f32):
// CHECK: llvm.cond_br %{{.*}}, ^[[BODY:.*]], ^[[END:.*]]
// CHECK: ^[[BODY]]:
// CHECK: %[[FROM:.*]] = llvm.getelementptr %[[TILE]][%[[K]]]
// CHECK: %[[VALUE:.*]] = llvm.load %[[FROM]] : !llvm.ptr<3> -> f32
// CHECK: %[[NEXT:.*]] = llvm.intr.fma(%[[VALUE]], %[[VALUE]], %[[SUM]])
// CHECK: llvm.br ^[[HEAD]](%{{.*}}, %[[NEXT]] : i64, f32)
!buffer = memref<?xf32, #gpu.address_space<global>>
!tile = memref<256xf32, #gpu.address_space<workgroup>>
gpu.module @kernels {
  memref.global "private" @sum_A : !tile = uninitialized
  gpu.func @sum(%x: !buffer {tgpu.name = "x"}, %y: !buffer {tgpu.name = "y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %thread = gpu.thread_id x
    %0 = memref.load %x[%thread] : !buffer
    %1 = memref.get_global @sum_A : !tile
    memref.store %0, %1[%thread] : !tile
    gpu.barrier
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    %2 = scf.for %k = %c0 to %c256 step %c1 iter_args(%sum = %zero) -> f32 {
      %3 = memref.load %1[%k] : !tile
      %4 = math.fma %3, %3, %sum : f32
      scf.yield %4 : f32
    } {tgpu.comment = "add up"}
    memref.store %2, %y[%thread] : !buffer
    gpu.return
  }
}

// -----

// Minima and maxima keep NaN and the sign of zero; a division that rounds down is an exact one and a correction.
// CHECK-LABEL: llvm.func @arithmetic(
// CHECK-DAG: llvm.intr.maximum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK-DAG: llvm.intr.sqrt(%{{.*}}) : (f32) -> f32
// CHECK-DAG: llvm.sdiv %{{.*}}, %{{.*}} : i64
// CHECK-DAG: llvm.select %{{.*}} : i1, i64
// CHECK-NOT: arith.
// CHECK-NOT: builtin.unrealized_conversion_cast
!buffer = memref<?xf32, #gpu.address_space<global>>
gpu.module @kernels {
  gpu.func @arithmetic(%x: !buffer {tgpu.name = "x"}, %n: index {tgpu.extent = "N"}, %m: index {tgpu.extent = "M"})
      kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %0 = arith.floordivsi %n, %m : index
    %1 = memref.load %x[%0] : !buffer
    %2 = math.sqrt %1 : f32
    %3 = arith.maximumf %1, %2 : f32
    memref.store %3, %x[%n] : !buffer
    gpu.return
  }
}

// -----

// A function without an instruction is arithmetic.
// CHECK-LABEL: llvm.func @software(
// CHECK-NOT: llvm.intr.sin
// CHECK: llvm.intr.fma
// CHECK: llvm.return
!buffer = memref<?xf32, #gpu.address_space<global>>
gpu.module @kernels {
  gpu.func @software(%x: !buffer {tgpu.name = "x"})
      kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %0 = gpu.thread_id x
    %1 = memref.load %x[%0] : !buffer
    %2 = math.sin %1 : f32
    memref.store %2, %x[%0] : !buffer
    gpu.return
  }
}

// -----

// An addition to memory is atomic for the whole device; the first to note a wrong index claims the status buffer.
// CHECK-LABEL: llvm.func @scatter(
// CHECK-SAME: %y: !llvm.ptr<1> {llvm.align = {{[0-9]+}} : i64, llvm.noalias}, %counts: !llvm.ptr<1> {llvm.align = {{[0-9]+}} : i64, llvm.noalias},
// CHECK-SAME: %[[STATUS:status]]: !llvm.ptr<1> {llvm.align = 8 : i64, llvm.noalias}, %[[N:n]]: i64)
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, f16
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") monotonic : !llvm.ptr<1>, i8
// CHECK: %[[CLAIM:.*]] = llvm.cmpxchg %[[STATUS]], %{{.*}}, %{{.*}} syncscope("device") monotonic monotonic
// CHECK: %[[WON:.*]] = llvm.extractvalue %[[CLAIM]][1]
// CHECK: llvm.cond_br %[[WON]], ^[[FIRST:.*]], ^
// CHECK: ^[[FIRST]]:
// CHECK: %[[INDEX:.*]] = llvm.getelementptr %[[STATUS]][1] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
// CHECK: llvm.store %[[N]], %[[INDEX]] : i64, !llvm.ptr<1>
// CHECK: %[[EXTENT:.*]] = llvm.getelementptr %[[STATUS]][3] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
// CHECK: llvm.store %[[N]], %[[EXTENT]] : i64, !llvm.ptr<1>
// CHECK: llvm.getelementptr %[[STATUS]][4] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i64
!buffer = memref<?xf16, #gpu.address_space<global>>
!counts = memref<?xi8, #gpu.address_space<global>>
!status = memref<36xi64, #gpu.address_space<global>>
gpu.module @kernels {
  gpu.func @scatter(%y: !buffer {tgpu.name = "y", tgpu.tensor = tensor<4xf16>},
                    %counts: !counts {tgpu.name = "counts", tgpu.tensor = tensor<4xi8>}, %status: !status {tgpu.status},
                    %n: index {tgpu.extent = "N"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %thread = gpu.thread_id x
    %one = arith.constant 1.0 : f16
    %one_more = arith.constant 1 : i8
    "tgpu.atomic_add"(%one, %y, %thread) : (f16, !buffer, index) -> ()
    "tgpu.atomic_add"(%one_more, %counts, %thread) : (i8, !counts, index) -> ()
    "tgpu.report_index"(%status, %n, %n, %thread) {axis = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 1>} : (!status, index, index, index) -> ()
    gpu.return
  }
}

// -----

// Statements are expanded first.
// CHECK-LABEL: llvm.func @neg(
// CHECK: llvm.fneg
!buffer = !region.memref<tensor<300xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @neg(%x: !buffer {tgpu.name = "x"}, %y: !buffer {tgpu.name = "y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [2, 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!buffer) -> tensor<300xf32>
      %1 = "tiny.neg"(%0) : (tensor<300xf32>) -> tensor<300xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<300xf32>, !buffer) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

// Neighbouring elements are one access, aligned to all of its bytes; shared memory is aligned to the widest access.
// CHECK-LABEL: llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64}
// CHECK: llvm.func @swapped(%[[X:x]]: !llvm.ptr<1> {llvm.align = 2 : i64, llvm.noalias, llvm.readonly}
// CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<1> -> vector<2xf16>
// CHECK: llvm.extractelement %[[LOADED]]
// CHECK: llvm.extractelement %[[LOADED]]
// CHECK: llvm.insertelement
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<2xf16>, !llvm.ptr<3>
// CHECK: nvvm.barrier
!row = memref<?xf16, #gpu.address_space<global>>
!tile = memref<64xf16, #gpu.address_space<workgroup>>
gpu.module @kernels {
  memref.global "private" @tile : !tile = uninitialized
  gpu.func @swapped(%x: !row {tgpu.name = "x"}, %y: !row {tgpu.name = "y"}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = memref.get_global @tile : !tile
    %i = gpu.thread_id x
    %c2 = arith.constant 2 : index
    %p = arith.muli %i, %c2 : index
    %0:2 = "tgpu.load_vector"(%x, %p) {resultSegmentSizes = array<i32: 2>} : (!row, index) -> (f16, f16)
    "tgpu.store_vector"(%t, %p, %0#1, %0#0) {operandSegmentSizes = array<i32: 1, 1, 2>} : (!tile, index, f16, f16) -> ()
    gpu.barrier
    %1:2 = "tgpu.load_vector"(%t, %p) {resultSegmentSizes = array<i32: 2>} : (!tile, index) -> (f16, f16)
    "tgpu.store_vector"(%y, %p, %1#0, %1#1) {operandSegmentSizes = array<i32: 1, 1, 2>} : (!row, index, f16, f16) -> ()
    gpu.return
  }
}

// -----

// All lanes of a warp exchange a word; of 64 bits the two halves.
// CHECK-LABEL: llvm.func @exchange(
// CHECK: nvvm.shfl.sync bfly %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32 -> f32
// CHECK: nvvm.shfl.sync up %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: nvvm.shfl.sync up %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32 -> i32
// CHECK: nvvm.shfl.sync idx %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32 -> i32
!row = memref<?xf32, #gpu.address_space<global>>
gpu.module @kernels {
  gpu.func @exchange(%y: !row {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %i = gpu.thread_id x
    %c1 = arith.constant 1 : i32
    %warp = arith.constant 32 : i32
    %lane = arith.index_cast %i : index to i32
    %0 = memref.load %y[%i] : !row
    %1, %none1 = gpu.shuffle xor %0, %c1, %warp : f32
    %2 = arith.extf %1 : f32 to f64
    %3, %none3 = gpu.shuffle up %2, %c1, %warp : f64
    %4 = arith.fptosi %3 : f64 to i32
    %5, %none5 = gpu.shuffle idx %4, %lane, %warp : i32
    %6 = arith.sitofp %5 : i32 to f32
    memref.store %6, %y[%i] : !row
    gpu.return
  }
}

// -----

// Buffers that may be one memory may alias each other; another one does not.
// CHECK: llvm.func @add(%{{.*}}: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.readonly},
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {llvm.align = 4 : i64})
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @add(%x: !buffer, %z: !buffer, %y: !buffer) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.in_place = [array<i64: 0, 2>]} {
    "tgpu.map_runs"() ({
      %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
      %1 = "region.read"(%z) : (!buffer) -> tensor<4xf32>
      %2 = "tiny.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
      omp.terminator
    }) {width = 1 : i64} : () -> ()
    gpu.return
  }
}

// -----

// A tensor map is 128 bytes by value, and reaches its buffer, too; a cluster is a fact of the function; dynamic shared
// memory has no size of its own.
// CHECK: llvm.mlir.global external @copy_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK: llvm.func @copy(%{{.*}}: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.readonly}, %{{.*}}: !llvm.ptr<1> {llvm.align = 4 : i64, llvm.noalias},
// CHECK-SAME: %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
// CHECK-SAME: nvvm.cluster_dim = array<i32: 2, 1, 1>
// CHECK: llvm.mlir.addressof @copy_smem : !llvm.ptr<3>
!buffer = memref<?xf32, #gpu.address_space<global>>
!tile = memref<65536xi8, #gpu.address_space<workgroup>>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  memref.global "private" @copy_smem : !tile {tgpu.dynamic}
  gpu.func @copy(%x: !buffer {tgpu.tensor = tensor<64xf32>}, %y: !buffer {tgpu.tensor = tensor<64xf32>},
                 %n: index {tgpu.extent = "N"}, %map: !tgpu.tensor_map {tgpu.tensor_map = {
                   buffer = 0 : i64, dims = ["N"], strides = [], box = [64], swizzle = 0 : i64}})
      kernel attributes {known_block_size = array<i32: 64, 1, 1>, tgpu.grid = [2, 1, 1],
        tgpu.cluster = array<i32: 2, 1, 1>, tgpu.dynamic_shared_bytes = 65536 : i64} {
    %tile = memref.get_global @copy_smem : !tile
    %thread = gpu.thread_id x
    %0 = memref.load %tile[%thread] : !tile
    memref.store %0, %tile[%n] : !tile
    %1 = memref.load %x[%thread] : !buffer
    memref.store %1, %y[%thread] : !buffer
    gpu.return
  }
}
