// RUN: tinyc-opt --stock-printing --gpu-expand --split-input-file %s | filecheck %s

// The threads of the grid share the elements. A buffer is one row of elements, and keeps its name and what it holds; an
// output's element that is computed from the same element of a buffer needs no index of its own.
// CHECK-LABEL: gpu.func @neg(
// CHECK-SAME: %[[X:.*]]: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "x", tgpu.tensor = tensor<4x3xf32>},
// CHECK-SAME: %[[Y:.*]]: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "y", tgpu.tensor = tensor<4x3xf32>})
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[BEFORE:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK: %[[FIRST:.*]] = arith.addi %[[BEFORE]], %[[THREAD]]
// CHECK: %[[BLOCKS:.*]] = gpu.grid_dim x
// CHECK: %[[STEP:.*]] = arith.muli %[[BLOCKS]], %c256
// CHECK: scf.for %[[I:.*]] = %[[FIRST]] to %c12 step %[[STEP]]
// CHECK-NEXT: %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK-NEXT: %[[N:.*]] = arith.negf %[[V]]
// CHECK-NEXT: memref.store %[[N]], %[[Y]][%[[I]]]
// CHECK-NEXT: tgpu.comment = "map
// CHECK: gpu.return
!buffer = !region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @neg(%x: !buffer {tgpu.name = "x"}, %y: !buffer {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!buffer) -> tensor<4x3xf32>
      %1 = "tiny.neg"(%0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4x3xf32>, !buffer) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

// A number is taken apart by unsigned divisions, not by those of extents 1; symbolic extents are arguments.
// CHECK-LABEL: gpu.func @transpose(
// CHECK-SAME: %[[X:.*]]: memref<?xi8, {{.*}}>{{.*}}, %[[Y:.*]]: memref<?xi8, {{.*}}>{{.*}}, %[[M:.*]]: index {tgpu.extent = "M"})
// CHECK: %[[SIZE:.*]] = arith.muli %[[M]], %c5
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[SIZE]]
// CHECK-NEXT: %[[COLUMN:.*]] = arith.remui %[[I]], %[[M]]
// CHECK-NEXT: %[[ROW:.*]] = arith.divui %[[I]], %[[M]]
// CHECK-NEXT: %[[START:.*]] = arith.muli %[[COLUMN]], %c5
// CHECK-NEXT: %[[AT:.*]] = arith.addi %[[ROW]], %[[START]]
// CHECK-NEXT: %[[BYTE:.*]] = memref.load %[[X]][%[[AT]]]
// CHECK-NEXT: %[[BOOL:.*]] = arith.cmpi ne, %[[BYTE]], %c0_i8
// CHECK-NEXT: %[[AGAIN:.*]] = arith.extui %[[BOOL]] : i1 to i8
// CHECK-NEXT: memref.store %[[AGAIN]], %[[Y]][%[[I]]]
!from = !region.memref<tensor<?x5xi1, #tiny.dims<["M", 5]>>, [5, 1], 128 : i64, true>
!to = !region.memref<tensor<5x1x?xi1, #tiny.dims<[5, 1, "M"]>>, ["M", "M", 1], 128 : i64, true>
!in = tensor<?x5xi1, #tiny.dims<["M", 5]>>
!out = tensor<5x1x?xi1, #tiny.dims<[5, 1, "M"]>>
gpu.module @kernels {
  gpu.func @transpose(%x: !from {tgpu.name = "x"}, %y: !to {tgpu.name = "y"}, %M: index {tgpu.extent = "M"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["(5*M - 1) floordiv 256 + 1", 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!from) -> !in
      %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (!in) -> tensor<5x?xi1, #tiny.dims<[5, "M"]>>
      %2 = "tiny.reshape"(%1) : (tensor<5x?xi1, #tiny.dims<[5, "M"]>>) -> !out
      "region.yield"(%2, %y) {materialize = "gmem"} : (!out, !to) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

// A tile is filled by all threads, zeros outside; of every 32 x 32 accumulators a thread has 2 x 2, which the loops carry; the
// epilogue is computed for each of them. Only guarded sides are compared.
// CHECK: memref.global "private" @gemm_A : memref<512xf16, #gpu.address_space<workgroup>> = uninitialized {tgpu.smem = !tgpu.smem<tensor<32x8xf16>, 2 : i64>}
// CHECK: memref.global "private" @gemm_B : memref<512xf16, #gpu.address_space<workgroup>> = uninitialized {tgpu.smem = !tgpu.smem<tensor<8x32xf16>, 2 : i64>}
// CHECK-LABEL: gpu.func @gemm(
// CHECK-SAME: %[[X:.*]]: memref<?xf16, {{.*}}>{{.*}}, %[[W:.*]]: memref<?xf16, {{.*}}>{{.*}}, %[[Y:.*]]: memref<?xf16, {{.*}}>
// CHECK: %[[TX:.*]] = gpu.thread_id x
// CHECK: %[[TY:.*]] = gpu.thread_id y
// CHECK: %[[Y16:.*]] = arith.muli %[[TY]], %c16
// CHECK: %[[THREAD:.*]] = arith.addi %[[Y16]], %[[TX]]
// CHECK: %[[A:.*]] = memref.get_global @gemm_A
// CHECK: %[[B:.*]] = memref.get_global @gemm_B
// CHECK: %[[ACC:.*]]:4 = scf.for %[[K:.*]] = %c0 to %c16{{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK: scf.for %[[E:.*]] = %[[THREAD]] to %c256{{.*}} step %c256
// CHECK: %[[C:.*]] = arith.remui %[[E]], %c8
// CHECK: %[[R:.*]] = arith.divui %[[E]], %c8
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %{{.*}}, %c7
// CHECK-NOT: arith.cmpi
// CHECK: %[[LOADED:.*]] = scf.if %[[INSIDE]] -> (f16)
// CHECK-NEXT: arith.muli
// CHECK-NEXT: arith.addi
// CHECK-NEXT: %[[ELEMENT:.*]] = memref.load %[[X]]
// CHECK-NEXT: scf.yield %[[ELEMENT]]
// CHECK: memref.store %[[LOADED]], %[[A]]
// CHECK: tgpu.comment = "load_tile
// CHECK: memref.load %[[W]]
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.store %{{.*}}, %[[B]]
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %c0 to %c8{{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32)
// CHECK-COUNT-2: memref.load %[[A]]
// CHECK-COUNT-2: memref.load %[[B]]
// CHECK-COUNT-4: math.fma
// CHECK: tgpu.comment = "fma
// CHECK: scf.if
// CHECK: %[[FIRST:.*]] = arith.maximumf %[[ACC]]#0, %{{.*}} : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[FIRST]] : f32 to f16
// CHECK: memref.store %[[ROUNDED]], %[[Y]]
// CHECK: arith.maximumf %[[ACC]]#1
// CHECK: tgpu.comment = "epilogue: row 0 of 2"
// CHECK: scf.if
// CHECK: arith.maximumf %[[ACC]]#2
// CHECK: arith.maximumf %[[ACC]]#3
// CHECK: tgpu.comment = "epilogue: row 1 of 2"
!x = !region.memref<tensor<7x16xf16>, [16, 1], 128 : i64, true>
!w = !region.memref<tensor<16x32xf16>, [32, 1], 128 : i64, true>
!y = !region.memref<tensor<7x32xf16>, [32, 1], 128 : i64, true>
!a = !tgpu.smem<tensor<32x8xf16>, 2 : i64>
!b = !tgpu.smem<tensor<8x32xf16>, 2 : i64>
!acc = !tgpu.acc<tensor<32x32xf32>>
gpu.module @kernels {
  gpu.func @gemm(%x: !x {tgpu.name = "x"}, %w: !w {tgpu.name = "w"}, %y: !y {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 16, 16, 1>, tgpu.grid = [1, 1, 1]} {
    %zero = arith.constant 0 : index
    %depth = arith.constant 8 : index
    %k_extent = arith.constant 16 : index
    %stages = arith.constant 2 : index
    %a = "tgpu.alloc_smem"() : () -> !a
    %b = "tgpu.alloc_smem"() : () -> !b
    %none = "tgpu.zero"() : () -> !acc
    %all = scf.for %k = %zero to %k_extent step %depth iter_args(%so_far = %none) -> (!acc) {
      %turn = arith.divui %k, %depth : index
      %stage = arith.remui %turn, %stages : index
      "tgpu.load_tile"(%a, %stage, %zero, %zero, %k) ({
        %0 = "region.read"(%x) : (!x) -> tensor<7x16xf16>
        %1 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<7x16xf16>) -> tensor<7x16x32xf16>
        "tgpu.yield"(%1) : (tensor<7x16x32xf16>) -> ()
        omp.terminator
      }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = ["rows"]} : (!a, index, index, index, index) -> ()
      "tgpu.load_tile"(%b, %stage, %zero, %k, %zero) ({
        %0 = "region.read"(%w) : (!w) -> tensor<16x32xf16>
        %1 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<16x32xf16>) -> tensor<7x16x32xf16>
        "tgpu.yield"(%1) : (tensor<7x16x32xf16>) -> ()
        omp.terminator
      }) {rows = array<i64: 1>, columns = array<i64: 2>, batches = array<i64>, guarded = []} : (!b, index, index, index, index) -> ()
      gpu.barrier
      %next = "tgpu.fma"(%a, %b, %stage, %so_far) : (!a, !b, index, !acc) -> !acc
      scf.yield %next : !acc
    }
    "tgpu.epilogue"(%all, %zero, %zero, %zero) ({
    ^bb0(%sum: tensor<7x32xf32>):
      %0 = "tiny.relu"(%sum) : (tensor<7x32xf32>) -> tensor<7x32xf32>
      %1 = "tiny.cast"(%0) : (tensor<7x32xf32>) -> tensor<7x32xf16>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<7x32xf16>, !y) -> ()
      omp.terminator
    }) {rows = array<i64: 0>, columns = array<i64: 1>, batches = array<i64>, guarded = ["rows"], kinds = []} : (!acc, index, index, index) -> ()
    gpu.return
  }
}

// -----

// A thread that sets elements of an output looks for the last update that is meant for its own one; positions that are
// none are noted once for each update.
// CHECK-LABEL: gpu.func @set(
// CHECK-SAME: %[[X:.*]]: memref<?xf32, {{.*}}>{{.*}}, %[[I:.*]]: memref<?xi64, {{.*}}>{{.*}}, %[[U:.*]]: memref<?xf32, {{.*}}>{{.*}}, %[[Y:.*]]: memref<?xf32, {{.*}}>{{.*}}, %[[STATUS:.*]]: memref<36xi64, #gpu.address_space<global>>
// CHECK: scf.for %[[OWN:.*]] = %{{.*}} to %c9
// CHECK: %[[LAST:.*]] = scf.for %[[N:.*]] = %c0 to %c4 {{.*}} iter_args(%[[SO_FAR:.*]] = %c-1)
// CHECK: %[[LOADED:.*]] = memref.load %[[I]][%[[N]]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[LOADED]]
// CHECK-NOT: tgpu.report_index
// CHECK: %[[MEANT:.*]] = arith.cmpi eq, %[[AT]], %[[OWN]]
// CHECK: arith.select %[[MEANT]], %[[N]], %[[SO_FAR]]
// CHECK: %[[FOUND:.*]] = arith.cmpi sge, %[[LAST]], %c0
// CHECK: scf.if %[[FOUND]]
// CHECK: memref.load %[[U]][%[[LAST]]]
// CHECK: else
// CHECK: memref.load %[[X]][%[[OWN]]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[OWN]]]
// CHECK: scf.for %[[UPDATE:.*]] = %{{.*}} to %c4
// CHECK: %[[MEANT_FOR:.*]] = memref.load %[[I]][%[[UPDATE]]]
// CHECK: %[[POSITION:.*]] = arith.index_cast %[[MEANT_FOR]]
// CHECK: arith.cmpi ult, %[[POSITION]], %c9
// CHECK: "tgpu.report_index"(%[[STATUS]], %[[POSITION]], %c9{{[_0-9]*}}, %[[UPDATE]]) {axis = 0 : i64
!x = !region.memref<tensor<9xf32>, [1], 128 : i64, true>
!i = !region.memref<tensor<4xi64>, [1], 128 : i64, true>
!u = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @set(%x: !x {tgpu.name = "x"}, %i: !i {tgpu.name = "i"}, %u: !u {tgpu.name = "u"}, %y: !x {tgpu.name = "y"}, %status: memref<36xi64, #gpu.address_space<global>> {tgpu.status}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<9xf32>
      %1 = "region.read"(%i) : (!i) -> tensor<4xi64>
      %2 = "region.read"(%u) : (!u) -> tensor<4xf32>
      %3 = "tiny.scatter"(%0, %1, %2) {axis = 0 : i64, op = "set"} : (tensor<9xf32>, tensor<4xi64>, tensor<4xf32>) -> tensor<9xf32>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<9xf32>, !x) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

// Each update is added by one thread as one step, in the type of the buffer.
// CHECK-LABEL: gpu.func @add(
// CHECK-SAME: %[[X:.*]]: memref<?xf16, {{.*}}>{{.*}}, %[[I:.*]]: memref<?xi64, {{.*}}>{{.*}}, %[[U:.*]]: memref<?xf16, {{.*}}>{{.*}}, %[[Y:.*]]: memref<?xf16, {{.*}}>{{.*}}, %[[STATUS:.*]]: memref<36xi64
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %c4
// CHECK: %[[AT:.*]] = arith.index_cast
// CHECK: scf.if
// CHECK: %[[UPDATE:.*]] = memref.load %[[U]][%[[N]]]
// CHECK: "tgpu.atomic_add"(%[[UPDATE]], %[[Y]], %[[AT]]) : (f16,
// CHECK: else
// CHECK: "tgpu.report_index"(%[[STATUS]], %[[AT]], %c9{{[_0-9]*}}, %[[N]]) {axis = 0 : i64
!x = !region.memref<tensor<9xf16>, [1], 128 : i64, true>
!i = !region.memref<tensor<4xi64>, [1], 128 : i64, true>
!u = !region.memref<tensor<4xf16>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @add(%x: !x {tgpu.name = "x"}, %i: !i {tgpu.name = "i"}, %u: !u {tgpu.name = "u"}, %y: !x {tgpu.name = "y"}, %status: memref<36xi64, #gpu.address_space<global>> {tgpu.status}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.scatter_add"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<9xf16>
      %1 = "region.read"(%i) : (!i) -> tensor<4xi64>
      %2 = "region.read"(%u) : (!u) -> tensor<4xf16>
      %3 = "tiny.scatter"(%0, %1, %2) {axis = 0 : i64, op = "add"} : (tensor<9xf16>, tensor<4xi64>, tensor<4xf16>) -> tensor<9xf16>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<9xf16>, !x) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

// One thread searches one row: all but the axis of the search, which is the middle one here; 6 * (row / 3) + row mod 3 is
// where its results begin. The best so far are a heap of positions in the buffer of the indices; the later elements are
// looked at with its root in registers.
// CHECK-LABEL: gpu.func @topk(
// CHECK-SAME: %[[X:.*]]: memref<?xf32, {{.*}}>{{.*}}, %[[V:.*]]: memref<?xf32, {{.*}}>{{.*}}, %[[P:.*]]: memref<?xi64
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c6
// CHECK-NEXT: %[[BATCH:.*]] = arith.divui %[[ROW]], %c3
// CHECK-NEXT: %[[BEFORE:.*]] = arith.muli %[[BATCH]], %c3
// CHECK-NEXT: arith.addi %[[ROW]], %[[BEFORE]]
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c2
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK: scf.for %{{.*}} = %c0 to %c3 {{.*}} iter_args(%[[WORST:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, index)
// CHECK: %[[LATER:.*]] = memref.load %[[X]]
// CHECK: arith.cmpf olt, %[[WORST]], %[[LATER]]
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c1 {{.*}} iter_args(
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: memref.store %{{.*}}, %[[V]]
!x = !region.memref<tensor<2x5x3xf32>, [15, 3, 1], 128 : i64, true>
!v = !region.memref<tensor<2x2x3xf32>, [6, 3, 1], 128 : i64, true>
!p = !region.memref<tensor<2x2x3xi64>, [6, 3, 1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @topk(%x: !x {tgpu.name = "x"}, %v: !v {tgpu.name = "v"}, %p: !p {tgpu.name = "p"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.topk"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<2x5x3xf32>
      %1:2 = "tiny.topk"(%0) {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<2x5x3xf32>) -> (tensor<2x2x3xf32>, tensor<2x2x3xi64>)
      "region.yield"(%1#0, %v) {materialize = "gmem"} : (tensor<2x2x3xf32>, !v) -> ()
      "region.yield"(%1#1, %p) {materialize = "gmem"} : (tensor<2x2x3xi64>, !p) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}

// -----

// A kernel without statements is left as it is.
// CHECK-LABEL: gpu.func @scalar(
// CHECK-SAME: %[[Y:.*]]: memref<?xf32, #gpu.address_space<global>> {tgpu.name = "y", tgpu.tensor = tensor<1xf32>})
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.0
// CHECK-NEXT: memref.store %[[ONE]], %[[Y]][%[[ZERO]]]
// CHECK-NEXT: gpu.return
!y = memref<?xf32, #gpu.address_space<global>>
gpu.module @kernels {
  gpu.func @scalar(%y: !y {tgpu.name = "y", tgpu.tensor = tensor<1xf32>}) kernel attributes {known_block_size = array<i32: 1, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %zero = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %y[%zero] : !y
    gpu.return
  }
}

// -----

// An array in shared memory has a name that nothing else in the module has.
// CHECK: memref.global "private" @k_A_1
// CHECK: gpu.func @k(
// CHECK: gpu.func @k_A(
!x = !region.memref<tensor<4xf16>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @k(%x: !x {tgpu.name = "x"}) kernel attributes {known_block_size = array<i32: 32, 1, 1>, tgpu.grid = [1, 1, 1]} {
    %0 = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<32x8xf16>, 2 : i64>
    gpu.return
  }
  gpu.func @k_A() kernel attributes {known_block_size = array<i32: 32, 1, 1>, tgpu.grid = [1, 1, 1]} {
    gpu.return
  }
}

// -----

// A thread takes neighbours in one access; those that make no whole run are taken one by one.
// CHECK-LABEL: gpu.func @runs(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c3{{(_[0-9]+)?}} step
// CHECK: %[[AT:.*]] = arith.muli %[[I]], %c4
// CHECK: %[[V:.*]]:4 = "tgpu.load_vector"(%{{.*}}, %[[AT]])
// CHECK: "tgpu.store_vector"(%{{.*}}, %[[AT]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT: tgpu.comment = "map_runs: 4 neighbours for each thread at a time"
// CHECK: memref.load
// CHECK: memref.store
// CHECK: tgpu.comment = "map_runs: the rest"
!x = !region.memref<tensor<14xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @runs(%x: !x {tgpu.name = "x"}, %y: !x {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "tgpu.map_runs"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<14xf32>
      %1 = "tiny.neg"(%0) : (tensor<14xf32>) -> tensor<14xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<14xf32>, !x) -> ()
      omp.terminator
    }) {width = 4 : i64} : () -> ()
    gpu.return
  }
}

// -----

// Two lanes of a warp share a row: each adds up its neighbours by halves, and the lanes exchange what they have.
// CHECK-LABEL: gpu.func @sums(
// CHECK: scf.if %{{.*}} -> (f32, f32, f32, f32) {
// CHECK: "tgpu.load_vector"
// CHECK: } else {
// CHECK-COUNT-4: arith.select
// CHECK-COUNT-4: arith.addf
// CHECK: %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[OWN:.*]], %c1_i32, %c32_i32
// CHECK: %[[TOTAL:.*]] = arith.addf %[[OWN]], %[[OTHER]]
// CHECK: scf.if
// CHECK: memref.store %[[TOTAL]]
// CHECK: tgpu.comment = "reduce_rows: 2 threads for each step"
!x = !region.memref<tensor<6x8xf32>, [8, 1], 128 : i64, true>
!y = !region.memref<tensor<6xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @sums(%x: !x {tgpu.name = "x"}, %y: !y {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 2, 16, 1>} {
    "tgpu.reduce_rows"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<6x8xf32>
      %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<6x8xf32>) -> tensor<6xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<6xf32>, !y) -> ()
      omp.terminator
    }) {lanes = "x", unrolled = true, width = 4 : i64} : () -> ()
    gpu.return
  }
}

// -----

// A square is turned in shared memory: loads along one side, stores along the other.
// CHECK-LABEL: memref.global "private" @turned_shared
// CHECK: gpu.func @turned(
// CHECK: "tgpu.load_vector"
// CHECK: "tgpu.store_vector"
// CHECK: gpu.barrier
// CHECK-COUNT-4: memref.load
// CHECK: "tgpu.store_vector"
// CHECK: gpu.barrier
// CHECK: tgpu.comment = "transpose: 32 x 32 elements, in accesses of 4"
!x = !region.memref<tensor<64x32xf32>, [32, 1], 128 : i64, true>
!y = !region.memref<tensor<32x64xf32>, [64, 1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @turned(%x: !x {tgpu.name = "x"}, %y: !y {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "tgpu.transpose"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<64x32xf32>
      %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<64x32xf32>) -> tensor<32x64xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<32x64xf32>, !y) -> ()
      omp.terminator
    }) {tile = 32 : i64, width = 4 : i64} : () -> ()
    gpu.return
  }
}

// -----

// What is before a thread in its row comes from the lanes before it, and is carried from turn to turn.
// CHECK-LABEL: gpu.func @scans(
// CHECK: scf.for %{{.*}} = %c0{{(_[0-9]+)?}} to %c1{{(_[0-9]+)?}} step %{{.*}} iter_args(%[[CARRIED:.*]] = %{{.*}})
// CHECK: gpu.shuffle up %{{.*}}, %c1_i32, %c32_i32
// CHECK: gpu.shuffle up %{{.*}}, %c1_i32, %c32_i32
// CHECK: gpu.shuffle idx
// CHECK: %[[BEFORE:.*]] = arith.addf %[[CARRIED]]
// CHECK: "tgpu.store_vector"
// CHECK: tgpu.comment = "scan_rows: 2 threads for each step"
!x = !region.memref<tensor<6x8xf32>, [8, 1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @scans(%x: !x {tgpu.name = "x"}, %y: !x {tgpu.name = "y"}) kernel attributes {known_block_size = array<i32: 2, 16, 1>} {
    "tgpu.scan_rows"() ({
      %0 = "region.read"(%x) : (!x) -> tensor<6x8xf32>
      %1 = "tiny.pad"(%0) {lo = array<i64: 0, 7>, hi = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<6x8xf32>) -> tensor<6x15xf32>
      %2 = "tiny.pool"(%1) {kernel = array<i64: 8>, stride = array<i64: 1>, dilation = array<i64: 1>} : (tensor<6x15xf32>) -> tensor<6x8x8xf32>
      %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 2>} : (tensor<6x8x8xf32>) -> tensor<6x8xf32>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<6x8xf32>, !x) -> ()
      omp.terminator
    }) {lanes = "x", width = 4 : i64} : () -> ()
    gpu.return
  }
}

// -----

// What rows share is copied once, in accesses of 16 bytes, to an array in shared memory; behind a barrier rows read it
// there.
// CHECK: memref.global "private" @scale_shared : memref<64xf32, #gpu.address_space<workgroup>> = uninitialized
// CHECK: gpu.func @scale(
// CHECK-SAME: %{{[^ ]*}}: memref<?xf32, {{.*}}>{{.*}}, %[[G:.*]]: memref<?xf32, {{.*}}>{{.*}}, %{{.*}}: memref
// CHECK: %[[SHARED:.*]] = memref.get_global @scale_shared
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c16 step %c256
// CHECK-NEXT: %[[AT:.*]] = arith.muli %[[I]], %c4
// CHECK-NEXT: %[[G4:.*]]:4 = "tgpu.load_vector"(%[[G]], %[[AT]])
// CHECK-NEXT: "tgpu.store_vector"(%[[SHARED]], %[[AT]], %[[G4]]#0
// CHECK: gpu.barrier
// CHECK-NOT: "tgpu.load_vector"(%[[G]],
// CHECK: "tgpu.load_vector"(%[[SHARED]],
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
!rows = !region.memref<tensor<48x64xf32>, [64, 1], 128 : i64, true>
!row = !region.memref<tensor<64xf32>, [1], 128 : i64, true>
gpu.module @kernels {
  gpu.func @scale(%x: !rows, %g: !row, %y: !rows) kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [3, 1, 1]} {
    "tgpu.share"(%g) {aligned_to = 4 : i64, operandSegmentSizes = array<i32: 1>, width = 4 : i64} : (!row) -> ()
    "tgpu.map_runs"() ({
      %0 = "region.read"(%x) : (!rows) -> tensor<48x64xf32>
      %1 = "region.read"(%g) : (!row) -> tensor<64xf32>
      %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<48x64xf32>
      %3 = "tiny.mul"(%0, %2) : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<48x64xf32>
      "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<48x64xf32>, !rows) -> ()
      omp.terminator
    }) {width = 4 : i64} : () -> ()
    gpu.return
  }
}
