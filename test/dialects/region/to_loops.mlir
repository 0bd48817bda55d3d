// RUN: tinyc-opt --region-to-loops --split-input-file %s | filecheck %s
// RUN: tinyc-opt '--region-to-loops=cpu=x86-64-v4' --split-input-file %s | filecheck %s --check-prefix=V4
// RUN: tinyc-opt '--region-to-loops=cpu=v4' --split-input-file %s | filecheck %s --check-prefix=V4
// RUN: tinyc-opt '--region-to-loops=cpu=x86-64-v2' --split-input-file %s | filecheck %s --check-prefix=V2

// Movements are index arithmetic: a transposed read costs no copy. The caller gives the range of the outer loop.
// CHECK-LABEL: func.func @transposed_neg(
// CHECK-SAME: %[[X:.*]]: memref<4x3xf32>, %[[Y:.*]]: memref<3x4xf32>, %[[LOW:.*]]: index, %[[HIGH:.*]]: index)
// CHECK: scf.for %[[I:.*]] = %[[LOW]] to %[[HIGH]]
// CHECK: scf.for %[[J:.*]] = %c0 to %c4
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[J]], %[[I]]]
// CHECK: %[[N:.*]] = arith.negf %[[V]]
// CHECK: memref.store %[[N]], %[[Y]][%[[I]], %[[J]]]
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>, %y: !region.memref<tensor<3x4xf32>, [4, 1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>) -> tensor<4x3xf32>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %2 = "tiny.neg"(%1) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<3x4xf32>, !region.memref<tensor<3x4xf32>, [4, 1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "transposed_neg"} : () -> ()

// -----

// The outer loop runs over several leading axes, row-major, so that one row of a batch is split too; the place of an
// element in memory is one expression.
// CHECK-LABEL: func.func @batch(
// CHECK-SAME: memref<2x3x5xf32>, %{{.*}}: memref<2x3x5xf32>, %[[LOW:.*]]: index, %[[HIGH:.*]]: index)
// CHECK: scf.for %[[TURN:.*]] = %[[LOW]] to %[[HIGH]]
// CHECK: %[[ROW:.*]] = arith.muli %[[TURN]], %c5
// CHECK: scf.for %[[K:.*]] = %c0 to %c5
// CHECK: %[[PLACE:.*]] = arith.addi %[[ROW]], %[[K]]
// CHECK: memref.load %{{.*}}[%[[PLACE]]]
!b = !region.memref<tensor<2x3x5xf32>, [15, 5, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !b, %y: !b):
  %0 = "region.read"(%x) : (!b) -> tensor<2x3x5xf32>
  %1 = "tiny.neg"(%0) : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<2x3x5xf32>, !b) -> ()
  omp.terminator
}) {sym_name = "batch"} : () -> ()

// -----

// Where both sides are longer than a line of the caches, what lies across the result is read block by block.
// CHECK-LABEL: func.func @transposed(
// CHECK: scf.for %{{.*}} = %low to %high step %c1
// CHECK: %[[COUNT:.*]] = arith.minsi %c16
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]] step %c1
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK: %[[E:.*]] = memref.load
// CHECK: memref.store %[[E]]
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<32x20xf32>, [20, 1], 128 : i64, true>, %y: !region.memref<tensor<20x32xf32>, [32, 1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<32x20xf32>, [20, 1], 128 : i64, true>) -> tensor<32x20xf32>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<32x20xf32>) -> tensor<20x32xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<20x32xf32>, !region.memref<tensor<20x32xf32>, [32, 1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "transposed"} : () -> ()

// -----

// A pad is a guard around the load, at which the loop is split; symbolic extents are arguments.
// CHECK-LABEL: func.func @pad(
// CHECK-SAME: %[[X:.*]]: memref<?xi32>, %[[Y:.*]]: memref<?xi32>, %[[M:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK: arith.addi %[[M]], %c2
// CHECK: memref.store %c7_i32
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK-NEXT: %[[P:.*]] = arith.addi %[[I]], %c-2
// CHECK-NEXT: %[[E:.*]] = memref.load %[[X]][%[[P]]]
// CHECK-NEXT: memref.store %[[E]], %[[Y]][%[[I]]]
// CHECK: memref.store %c7_i32
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<?xi32, #tiny.dims<["M"]>>, [1], 128 : i64, true>, %y: !region.memref<tensor<?xi32, #tiny.dims<["M + 3"]>>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<?xi32, #tiny.dims<["M"]>>, [1], 128 : i64, true>) -> tensor<?xi32, #tiny.dims<["M"]>>
  %1 = "tiny.pad"(%0) {lo = array<i64: 2>, hi = array<i64: 1>, value = 7 : i32} : (tensor<?xi32, #tiny.dims<["M"]>>) -> tensor<?xi32, #tiny.dims<["M + 3"]>>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<?xi32, #tiny.dims<["M + 3"]>>, !region.memref<tensor<?xi32, #tiny.dims<["M + 3"]>>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "pad"} : () -> ()

// -----

// What memory has as it is packed comes from there in vectors, four products of a panel before the next panel; of the
// last panel, what is behind the columns is not read. The rows lie along the products, and are read in place.
// CHECK-LABEL: func.func @product_as_it_lies(
// CHECK-SAME: %[[RIGHT:workspace]]: memref<3072xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca()
// CHECK-NOT: memref.alloca
// CHECK: %[[A:.*]] = memref.reinterpret_cast %a
// CHECK: scf.for %{{.*}} = %c0 to %c20 step %c4
// CHECK: scf.for %{{.*}} = %c0 to %c32 step %c16
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1
// CHECK: %[[V:.*]] = vector.load %[[A]]
// CHECK-NEXT: vector.store %[[V]], %[[RIGHT]]
// CHECK: scf.for %{{.*}} = %c32 to %c38 step %c16
// CHECK: %[[MASK:.*]] = vector.create_mask
// CHECK: %[[L:.*]] = vector.maskedload %[[A]][%{{.*}}], %[[MASK]]
// CHECK-NEXT: vector.store %[[L]], %[[RIGHT]]
// CHECK: iter_args
// CHECK: vector.load %[[RIGHT]]
"region.kernel"() ({
^bb0(%a: !region.memref<tensor<20x38xf32>, [38, 1], 128 : i64, true>, %b: !region.memref<tensor<33x20xf32>, [20, 1], 128 : i64, true>, %y: !region.memref<tensor<38x33xf32>, [33, 1], 128 : i64, true>):
  %0 = "region.read"(%a) : (!region.memref<tensor<20x38xf32>, [38, 1], 128 : i64, true>) -> tensor<20x38xf32>
  %1 = "region.read"(%b) : (!region.memref<tensor<33x20xf32>, [20, 1], 128 : i64, true>) -> tensor<33x20xf32>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<20x38xf32>) -> tensor<20x38x33xf32>
  %3 = "tiny.permute"(%1) {perm = array<i64: 1, 0>} : (tensor<33x20xf32>) -> tensor<20x33xf32>
  %4 = "tiny.expand"(%3) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<20x33xf32>) -> tensor<20x38x33xf32>
  %5 = "tiny.mul"(%2, %4) : (tensor<20x38x33xf32>, tensor<20x38x33xf32>) -> tensor<20x38x33xf32>
  %6 = "tiny.reduce"(%5) {op = "sum", axes = array<i64: 0>} : (tensor<20x38x33xf32>) -> tensor<38x33xf32>
  "region.yield"(%6, %y) {materialize = "gmem"} : (tensor<38x33xf32>, !region.memref<tensor<38x33xf32>, [33, 1], 128 : i64, true>) -> ()
  omp.terminator
}) {plan = {layout_hints = {C_stride = "col"}, pack = {A = false, B = true}}, sym_name = "product_as_it_lies"} : () -> ()

// -----

// A product packs its operands in the sums' type: the right one in memory of the launch's own, a line of neighbours
// after the other; the left one for the rows of a micro-kernel, through registers that transpose what lies along the
// products. The micro-kernel has sums of rows and of two vectors of columns in registers, filled up with zeros; the
// epilogue reads them from memory. Vectors are those of the CPU, as many as there are columns for.
// CHECK-LABEL: func.func @sum_of_products(
// CHECK-SAME: %[[RIGHT:workspace]]: memref<3072xf32>
// CHECK: %[[LINES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<576xf32>
// CHECK: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<40xf32>
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<320xf32>
// CHECK: %[[LEFT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<192xf32>
// CHECK: %[[ZERO:.*]] = vector.broadcast %cst
// CHECK: scf.for %{{.*}} = %low to %high
// CHECK: %[[W:.*]] = arith.extf
// CHECK: memref.store %[[W]], %[[ROW]]
// CHECK: memref.store %cst{{.*}}, %[[ROW]]
// CHECK: %[[P:.*]] = vector.load %[[ROW]]
// CHECK: vector.store %[[P]], %[[RIGHT]]
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c4
// CHECK: %[[V:.*]] = arith.extf
// CHECK: memref.store %[[V]], %[[LINES]]
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 8, 2, 10, 4, 12, 6, 14]
// CHECK-COUNT-23: vector.shuffle
// CHECK-NOT: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[LEFT]]
// CHECK: %[[LOOP:.*]]:8 = scf.for %{{.*}} = %c0 to %c20 step %c1 iter_args(%[[S:\w+]] = %[[ZERO]],
// CHECK: memref.prefetch %[[RIGHT]]
// CHECK: %[[B:.*]] = vector.load %[[RIGHT]][%{{.*}}] : memref<3072xf32>, vector<8xf32>
// CHECK: %[[E:.*]] = memref.load %[[LEFT]]
// CHECK: %[[A:.*]] = vector.broadcast %[[E]] : f32 to vector<8xf32>
// CHECK: vector.fma %[[A]], %[[B]], %[[S]]
// CHECK-COUNT-7: vector.fma
// CHECK-NOT: vector.fma
// CHECK: vector.store %[[LOOP]]#0, %[[SUMS]]
// CHECK: scf.for %{{.*}} = %c0 to %c10 step %c1
// CHECK: %[[SUM:.*]] = memref.load %[[SUMS]]
// CHECK: arith.maximumf %[[SUM]]
// V4-LABEL: func.func @sum_of_products(
// V4: :8 = scf.for
// V4-COUNT-8: vector.fma %{{.*}}, %{{.*}}, %{{.*}} : vector<16xf32>
// V4-NOT: vector.fma
// V2-LABEL: func.func @sum_of_products(
// V2: :8 = scf.for
// V2: %[[P:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// V2: arith.addf %{{.*}}, %[[P]] : vector<4xf32>
// V2-NOT: vector.fma
"region.kernel"() ({
^bb0(%a: !region.memref<tensor<8x20xf16>, [20, 1], 128 : i64, true>, %b: !region.memref<tensor<20x10xf16>, [10, 1], 128 : i64, true>, %y: !region.memref<tensor<8x10xf32>, [10, 1], 128 : i64, true>):
  %0 = "region.read"(%a) : (!region.memref<tensor<8x20xf16>, [20, 1], 128 : i64, true>) -> tensor<8x20xf16>
  %1 = "region.read"(%b) : (!region.memref<tensor<20x10xf16>, [10, 1], 128 : i64, true>) -> tensor<20x10xf16>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<8x20xf16>) -> tensor<8x20x10xf16>
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<20x10xf16>) -> tensor<8x20x10xf16>
  %4 = "tiny.mul"(%2, %3) : (tensor<8x20x10xf16>, tensor<8x20x10xf16>) -> tensor<8x20x10xf16>
  %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 1>} : (tensor<8x20x10xf16>) -> tensor<8x10xf32>
  %6 = "tiny.relu"(%5) : (tensor<8x10xf32>) -> tensor<8x10xf32>
  "region.yield"(%6, %y) {materialize = "gmem"} : (tensor<8x10xf32>, !region.memref<tensor<8x10xf32>, [10, 1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "sum_of_products"} : () -> ()

// -----

// A scan reads each element once, and carries what it has so far: here from the end, without the element itself. Rows
// beside each other are walked together, and the epilogue reads what there is so far.
// CHECK-LABEL: func.func @running_sums(
// CHECK: %[[ACC:.*]] = memref.alloca() : memref<128xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1
// CHECK: scf.for %[[T:.*]] = %c0 to %c4 step %c128
// CHECK: scf.for %[[STEP:.*]] = %c0 to %c9 step %c1
// CHECK: %[[P:.*]] = arith.subi %c8, %[[STEP]]
// CHECK: scf.for %[[LANE:.*]] = %c0 to
// CHECK: %[[COLUMN:.*]] = arith.addi %[[T]], %[[LANE]]
// CHECK: %[[SO_FAR:.*]] = memref.load %[[ACC]][%[[LANE]]]
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[P]], %[[COLUMN]]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[SO_FAR]], %[[X]] : f32
// CHECK: memref.store %[[NEXT]], %[[ACC]][%[[LANE]]]
// CHECK: %[[R:.*]] = arith.maximumf %[[SO_FAR]]
// CHECK: memref.store %[[R]], %{{.*}}[%[[P]], %[[COLUMN]]]
!s = !region.memref<tensor<9x4xf32>, [4, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !s, %y: !s):
  %0 = "region.read"(%x) : (!s) -> tensor<9x4xf32>
  %1 = "tiny.pad"(%0) {lo = array<i64: 0, 0>, hi = array<i64: 9, 0>, value = 0.0 : f32} : (tensor<9x4xf32>) -> tensor<18x4xf32>
  %2 = "tiny.shrink"(%1) {lo = [1, 0], hi = [18, 4], step = array<i64: 1, 1>} : (tensor<18x4xf32>) -> tensor<17x4xf32>
  %3 = "tiny.pool"(%2) {kernel = array<i64: 9, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<17x4xf32>) -> tensor<9x4x9x1xf32>
  %4 = "tiny.reduce"(%3) {op = "sum", axes = array<i64: 2, 3>} : (tensor<9x4x9x1xf32>) -> tensor<9x4xf32>
  %5 = "tiny.relu"(%4) : (tensor<9x4xf32>) -> tensor<9x4xf32>
  "region.yield"(%5, %y) {materialize = "gmem"} : (tensor<9x4xf32>, !s) -> ()
  omp.terminator
}) {sym_name = "running_sums"} : () -> ()

// -----

// A reduction that is read through a movement is computed before, into a row.
// CHECK-LABEL: func.func @reversed_sums(
// CHECK: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
// CHECK: scf.for %{{.*}} = %low to %high
// CHECK: scf.for %[[I:.*]] = %c0 to %c8
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c30 step %c1 iter_args(%[[SO_FAR:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[NEXT:.*]] = arith.addf %[[SO_FAR]], %{{.*}} : f32
// CHECK: scf.yield %[[NEXT]] : f32
// CHECK: memref.store %[[SUM]], %[[ROW]][%[[I]]]
// CHECK: scf.for %[[J:.*]] = %c0 to %c8
// CHECK: %[[BACK:.*]] = arith.subi %c7, %[[J]]
// CHECK: %[[READ:.*]] = memref.load %[[ROW]][%[[BACK]]]
// CHECK: memref.store %[[READ]], %y[%[[J]]]
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<8x30xf32>, [30, 1], 128 : i64, true>, %y: !region.memref<tensor<8xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<8x30xf32>, [30, 1], 128 : i64, true>) -> tensor<8x30xf32>
  %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<8x30xf32>) -> tensor<8xf32>
  %2 = "tiny.flip"(%1) {axes = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<8xf32>, !region.memref<tensor<8xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "reversed_sums"} : () -> ()

// -----

// A reduction that a gather reads is recomputed at the gathered index, not taken from an accumulator of the tile.
// CHECK-LABEL: func.func @gathered_sums(
// CHECK-NOT: memref.alloca
// CHECK: scf.if
// CHECK: scf.for
// CHECK: arith.addf
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>, %i: !region.memref<tensor<4xi32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>) -> tensor<4x3xf32>
  %1 = "region.read"(%i) : (!region.memref<tensor<4xi32>, [1], 128 : i64, true>) -> tensor<4xi32>
  %2 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
  %3 = "tiny.gather"(%2, %1) {axis = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "gathered_sums"} : () -> ()

// -----

// Indices from data are checked: an index out of range is noted in the status buffer, and nothing is read.
// CHECK-LABEL: func.func @gather(
// CHECK-SAME: memref<9xf32>, %{{.*}}: memref<4xi64>, %{{.*}}: memref<4xf32>, %[[STATUS:.*]]: memref<36xi64>, %{{.*}}: index, %{{.*}}: index)
// CHECK: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %c9
// CHECK: scf.if %[[IN]]
// CHECK: else
// CHECK: %[[NOTED:.*]] = memref.load %[[STATUS]][%c0]
// CHECK: %[[FREE:.*]] = arith.cmpi eq, %[[NOTED]], %c0_i64
// CHECK: scf.if %[[FREE]]
// CHECK: %[[WORDS:.*]] = arith.index_cast %c2{{.*}} : index to i64
// CHECK: memref.store %[[WORDS]], %[[STATUS]][%c0]
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<9xf32>, [1], 128 : i64, true>, %i: !region.memref<tensor<4xi64>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<9xf32>, [1], 128 : i64, true>) -> tensor<9xf32>
  %1 = "region.read"(%i) : (!region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> tensor<4xi64>
  %2 = "tiny.gather"(%0, %1) {axis = 0 : i64} : (tensor<9xf32>, tensor<4xi64>) -> tensor<4xf32>
  "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "gather"} : () -> ()

// -----

// A module without kernels stays as it is.
// CHECK-LABEL: func.func @nothing()
// CHECK-NEXT: return
func.func @nothing() {
  return
}

// -----

// The parts of a merged axis are loops. Where there is a division, what is never negative is divided as an unsigned number;
// read backwards, an axis gives negative ones.
// CHECK-LABEL: func.func @merged(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}}
// CHECK: scf.for %[[J:.*]] = %c0 to %c3
// CHECK-NOT: arith.div
// CHECK: memref.load %x[%[[J]], %[[I]]]
// CHECK-LABEL: func.func @merged_and_flipped(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %{{.*}}
// CHECK: %[[P:.*]] = arith.subi %c2, %[[I]]
// CHECK: arith.floordivsi %[[P]], %c3
!x = !region.memref<tensor<3x2xf32>, [2, 1], 128 : i64, true>
!y = !region.memref<tensor<6xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !x, %y: !y):
  %0 = "region.read"(%x) : (!x) -> tensor<3x2xf32>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = "tiny.reshape"(%1) : (tensor<2x3xf32>) -> tensor<6xf32>
  "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<6xf32>, !y) -> ()
  omp.terminator
}) {sym_name = "merged"} : () -> ()
"region.kernel"() ({
^bb0(%x: !x, %y: !y):
  %0 = "region.read"(%x) : (!x) -> tensor<3x2xf32>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = "tiny.reshape"(%1) : (tensor<2x3xf32>) -> tensor<6xf32>
  %3 = "tiny.flip"(%2) {axes = array<i64: 0>} : (tensor<6xf32>) -> tensor<6xf32>
  "region.yield"(%3, %y) {materialize = "gmem"} : (tensor<6xf32>, !y) -> ()
  omp.terminator
}) {sym_name = "merged_and_flipped"} : () -> ()

// -----

// An element that is read in two ways is loaded once, and a row that is merged and split again is read as it lies.
// CHECK-LABEL: func.func @doubled(%x: memref<6x4xf32>, %y: memref<6x4xf32>
// CHECK: scf.for %[[I:.*]] = %low
// CHECK: scf.for %[[J:.*]] = %c0 to %c4
// CHECK-NEXT: %[[X:.*]] = memref.load %x[%[[I]], %[[J]]]
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT: memref.store %[[SUM]], %y[%[[I]], %[[J]]]
!b = !region.memref<tensor<6x4xf32>, [4, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !b, %y: !b):
  %0 = "region.read"(%x) : (!b) -> tensor<6x4xf32>
  %1 = "tiny.reshape"(%0) : (tensor<6x4xf32>) -> tensor<24xf32>
  %2 = "tiny.reshape"(%1) : (tensor<24xf32>) -> tensor<6x4xf32>
  %3 = "region.read"(%x) : (!b) -> tensor<6x4xf32>
  %4 = "tiny.add"(%2, %3) : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  "region.yield"(%4, %y) {materialize = "gmem"} : (tensor<6x4xf32>, !b) -> ()
  omp.terminator
}) {sym_name = "doubled"} : () -> ()

// -----

// The phases of a step run one after the other: the greatest of the row, its exponentials, which two phases read, their
// sum in lanes, which come together at the end, and the result.
// Exponentials are long chains of instructions: LLVM is asked for several vectors of them at a time.
// CHECK: #[[SEVERAL:.*]] = #llvm.loop_interleave<count = 4 : i32>
// CHECK: #[[TIMES:.*]] = #llvm.loop_annotation<interleave = #[[SEVERAL]]>
// CHECK-LABEL: func.func @softmax(%x: memref<4x300xf32>, %y: memref<4x300xf32>
// CHECK-DAG: %[[ROW:.*]] = memref.alloca() {alignment = 64 : i64} : memref<300xf32>
// CHECK-DAG: %[[LANES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xf32>
// CHECK: scf.for %[[I:.*]] = %low to %high
// CHECK: arith.maximumf
// CHECK: %[[E:.*]] = math.exp2
// CHECK: memref.store %[[E]], %[[ROW]]
// CHECK-NEXT: } {llvm.loop_annotation = #[[TIMES]]}
// CHECK: scf.for %[[LANE:.*]] = %c0 to %c64
// CHECK: scf.for %[[FIRST:.*]] = %c0 to %c256 step %c64
// CHECK: scf.for %[[LANE:.*]] = %c0 to %c64
// CHECK: %[[AT:.*]] = arith.addi %[[FIRST]], %[[LANE]]
// CHECK: memref.load %[[ROW]][%[[AT]]]
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} = %c0 to %c44
// CHECK: scf.for %{{.*}} = %c0 to %c32
// CHECK: scf.for %{{.*}} = %c0 to %c1 step
// CHECK: %[[SUM:.*]] = memref.load %[[LANES]][%c0]
// CHECK: arith.divf %{{.*}}, %[[SUM]]
// CHECK: scf.for %[[J:.*]] = %c0 to %c300
// CHECK: memref.load %[[ROW]][%[[J]]]
// CHECK: memref.store %{{.*}}, %y[%[[I]], %[[J]]]
!x = !region.memref<tensor<4x300xf32>, [300, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !x, %y: !x):
  %0 = "region.read"(%x) : (!x) -> tensor<4x300xf32>
  %1 = "tiny.reduce"(%0) {op = "max", axes = array<i64: 1>} : (tensor<4x300xf32>) -> tensor<4xf32>
  %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x300xf32>
  %3 = "tiny.sub"(%0, %2) : (tensor<4x300xf32>, tensor<4x300xf32>) -> tensor<4x300xf32>
  %4 = "tiny.exp2"(%3) : (tensor<4x300xf32>) -> tensor<4x300xf32>
  %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 1>} : (tensor<4x300xf32>) -> tensor<4xf32>
  %6 = "tiny.recip"(%5) : (tensor<4xf32>) -> tensor<4xf32>
  %7 = "tiny.expand"(%6) {broadcast_dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x300xf32>
  %8 = "tiny.mul"(%4, %7) : (tensor<4x300xf32>, tensor<4x300xf32>) -> tensor<4x300xf32>
  "region.yield"(%8, %y) {materialize = "gmem"} : (tensor<4x300xf32>, !x) -> ()
  omp.terminator
}) {sym_name = "softmax"} : () -> ()
