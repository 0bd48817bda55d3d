// Loops are split where guards change: each part reads what it writes.
// RUN: tinyc-opt --tiny-to-region --region-to-loops --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-region --region-to-loops=cpu=x86-64-v2 --split-input-file %s | filecheck %s --check-prefix NARROW

// A concatenation along the last axis is two copies.
// CHECK-LABEL: func.func @cmp_lt_where
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0 to %c3
// CHECK-NEXT: memref.load %x
// CHECK-NEXT: memref.store
// CHECK: scf.for %{{.*}} = %c3 to %c8
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.load %y
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.if
func.func @main(%x: tensor<4x3xf32> {tiny.name = "x"}, %y: tensor<4x5xf32> {tiny.name = "y"}) -> (tensor<4x8xf32> {tiny.name = "z"}) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 0>, hi = array<i64: 0, 5>, value = 0.0 : f32} : (tensor<4x3xf32>) -> tensor<4x8xf32>
  %1 = "tiny.pad"(%y) {lo = array<i64: 0, 3>, hi = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<4x5xf32>) -> tensor<4x8xf32>
  %2 = "tiny.iota"() {axis = 1 : i64} : () -> tensor<4x8xi64>
  %3 = "tiny.const"() {value = 3 : i64} : () -> tensor<4x8xi64>
  %4 = "tiny.cmp_lt"(%2, %3) : (tensor<4x8xi64>, tensor<4x8xi64>) -> tensor<4x8xi1>
  %5 = "tiny.where"(%4, %0, %1) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// A padded row: what is outside is written, what is inside is copied, and nothing is asked.
// CHECK-LABEL: func.func @copy
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK-NEXT: memref.store %cst
// CHECK: scf.for %{{.*}} = %c2 to %c5
// CHECK-NEXT: arith.addi
// CHECK-NEXT: memref.load
// CHECK-NOT: scf.if
func.func @pad(%x: tensor<4x3xf32> {tiny.name = "x"}) -> (tensor<4x5xf32> {tiny.name = "y"}) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 2>, hi = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<4x3xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Where the condition depends on what is read, the loop stays.
// CHECK-LABEL: func.func @cmp_lt_where
// CHECK: scf.for
// CHECK: scf.for %{{.*}} = %c0 to %c4
// CHECK: arith.select
// CHECK-NOT: scf.for
func.func @stays(%x: tensor<3x4xf32> {tiny.name = "x"}, %y: tensor<3x4xf32> {tiny.name = "y"}) -> (tensor<3x4xf32> {tiny.name = "z"}) {
  %0 = "tiny.cmp_lt"(%x, %y) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  %1 = "tiny.where"(%0, %x, %y) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// Where the extents are symbols, a pad that is cut is split where they end: a concatenation is two copies still.
// CHECK-LABEL: func.func @cmp_lt_where
// CHECK-SAME: %M: index, %N: index, %low: index, %high: index)
// CHECK: %[[BOTH:.*]] = arith.addi %M, %N
// CHECK: scf.for %{{.*}} = %c0 to %M
// CHECK-NEXT: memref.load %x
// CHECK-NEXT: memref.store
// CHECK: scf.for %[[J:.*]] = %M to %[[BOTH]]
// CHECK-NEXT: arith.subi %[[J]], %M
// CHECK-NEXT: memref.load %y
// CHECK-NEXT: memref.store
// CHECK-NOT: scf.if
!m = tensor<4x?xf32, #tiny.dims<[4, "M"]>>
!i = tensor<4x?xi64, #tiny.dims<[4, "M + N"]>>
!n = tensor<4x?xf32, #tiny.dims<[4, "N"]>>
!z = tensor<4x?xf32, #tiny.dims<[4, "M + N"]>>
func.func @symbolic(%x: !m {tiny.name = "x"}, %y: !n {tiny.name = "y"}) -> (!z {tiny.name = "z"}) {
  "tiny.assume"() {lhs = "M + N", predicate = "le", rhs = "M + 99"} : () -> ()
  "tiny.assume"() {lhs = "0", predicate = "le", rhs = "-M + 99"} : () -> ()
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 0>, hi = array<i64: 0, 99>, value = 0.0 : f32} : (!m) -> tensor<4x?xf32, #tiny.dims<[4, "M + 99"]>>
  %1 = "tiny.shrink"(%0) {lo = [0, 0], hi = [4, "M + N"], step = array<i64: 1, 1>} : (tensor<4x?xf32, #tiny.dims<[4, "M + 99"]>>) -> !z
  %2 = "tiny.pad"(%y) {lo = array<i64: 0, 99>, hi = array<i64: 0, 0>, value = 0.0 : f32} : (!n) -> tensor<4x?xf32, #tiny.dims<[4, "N + 99"]>>
  %3 = "tiny.shrink"(%2) {lo = [0, "-M + 99"], hi = [4, "N + 99"], step = array<i64: 1, 1>} : (tensor<4x?xf32, #tiny.dims<[4, "N + 99"]>>) -> !z
  %4 = "tiny.iota"() {axis = 1 : i64} : () -> !i
  %5 = "tiny.iota"() {axis = 0 : i64} : () -> tensor<?xi64, #tiny.dims<["M + 1"]>>
  %6 = "tiny.shrink"(%5) {lo = ["M"], hi = ["M + 1"], step = array<i64: 1>} : (tensor<?xi64, #tiny.dims<["M + 1"]>>) -> tensor<1xi64>
  %7 = "tiny.reshape"(%6) : (tensor<1xi64>) -> tensor<i64>
  %8 = "tiny.expand"(%7) {broadcast_dimensions = array<i64>} : (tensor<i64>) -> !i
  %9 = "tiny.cmp_lt"(%4, %8) : (!i, !i) -> tensor<4x?xi1, #tiny.dims<[4, "M + N"]>>
  %10 = "tiny.where"(%9, %1, %3) : (tensor<4x?xi1, #tiny.dims<[4, "M + N"]>>, !z, !z) -> !z
  return %10 : !z
}

// -----

// Of two places of which nothing says which is first, the loop is split at one, which may lie behind its end.
// CHECK-LABEL: func.func @add
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.for
!l = tensor<?xf32, #tiny.dims<["L"]>>
func.func @two(%x: tensor<?xf32, #tiny.dims<["M"]>> {tiny.name = "x"}, %y: tensor<?xf32, #tiny.dims<["N"]>> {tiny.name = "y"}, %z: !l {tiny.name = "z"}) -> (!l {tiny.name = "r"}) {
  "tiny.assume"() {lhs = "L", predicate = "le", rhs = "M + 99"} : () -> ()
  "tiny.assume"() {lhs = "L", predicate = "le", rhs = "N + 99"} : () -> ()
  %0 = "tiny.pad"(%x) {lo = array<i64: 0>, hi = array<i64: 99>, value = 0.0 : f32} : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M + 99"]>>
  %1 = "tiny.shrink"(%0) {lo = [0], hi = ["L"], step = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["M + 99"]>>) -> !l
  %2 = "tiny.pad"(%y) {lo = array<i64: 0>, hi = array<i64: 99>, value = 0.0 : f32} : (tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["N + 99"]>>
  %3 = "tiny.shrink"(%2) {lo = [0], hi = ["L"], step = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["N + 99"]>>) -> !l
  %4 = "tiny.add"(%1, %3) : (!l, !l) -> !l
  %5 = "tiny.add"(%4, %z) : (!l, !l) -> !l
  return %5 : !l
}

// -----

// The index of a row is loaded and checked in front of the row, which is copied.
// CHECK-LABEL: func.func @gather
// CHECK: scf.for %[[ROW:.*]] = %low to %high
// CHECK-NEXT: memref.load %ids[%[[ROW]]]
// CHECK: arith.cmpi ult
// CHECK-NEXT: scf.if
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load %data
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: else
func.func @rows(%data: tensor<9x40xf32> {tiny.name = "data"}, %ids: tensor<70xi64> {tiny.name = "ids"}) -> (tensor<70x40xf32> {tiny.name = "y"}) {
  %0 = "tiny.gather"(%data, %ids) {axis = 0 : i64} : (tensor<9x40xf32>, tensor<70xi64>) -> tensor<70x40xf32>
  return %0 : tensor<70x40xf32>
}

// -----

// Where a row may be empty, its index is loaded if it is not.
// CHECK-LABEL: func.func @gather
// CHECK: scf.for %[[ROW:.*]] = %low to %high
// CHECK-NEXT: scf.if
// CHECK-NEXT: memref.load %ids[%[[ROW]]]
func.func @rows(%data: tensor<9x?xf32, #tiny.dims<[9, "K"]>> {tiny.name = "data"}, %ids: tensor<70xi64> {tiny.name = "ids"}) -> (tensor<70x?xf32, #tiny.dims<[70, "K"]>> {tiny.name = "y"}) {
  %0 = "tiny.gather"(%data, %ids) {axis = 0 : i64} : (tensor<9x?xf32, #tiny.dims<[9, "K"]>>, tensor<70xi64>) -> tensor<70x?xf32, #tiny.dims<[70, "K"]>>
  return %0 : tensor<70x?xf32, #tiny.dims<[70, "K"]>>
}

// -----

// A window in tiles of neighbours is written out. Its guards go, also behind a stride: the first place is apart, and
// those behind it read nine terms where all rows of the window are inside.
// CHECK-LABEL: func.func @reduce_max
// CHECK: scf.for %[[ROW:.*]] = %low to %high
// CHECK: arith.remui %[[ROW]], %c8
// CHECK: scf.for %[[J:.*]] = %c1 to %c40
// CHECK-NEXT: arith.muli %[[J]], %c2
// CHECK-NOT: scf.if
// CHECK-COUNT-9: memref.load
// CHECK-NOT: memref.load
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: } else {
func.func @window(%x: tensor<2x3x16x80xf32> {tiny.name = "x"}) -> (tensor<2x3x8x40xf32> {tiny.name = "y"}) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 0, 1, 1>, hi = array<i64: 0, 0, 1, 1>, value = 0xFF800000 : f32} : (tensor<2x3x16x80xf32>) -> tensor<2x3x18x82xf32>
  %1 = "tiny.pool"(%0) {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>} : (tensor<2x3x18x82xf32>) -> tensor<2x3x8x40x3x3xf32>
  %2 = "tiny.reduce"(%1) {axes = array<i64: 4, 5>, op = "max"} : (tensor<2x3x8x40x3x3xf32>) -> tensor<2x3x8x40xf32>
  return %2 : tensor<2x3x8x40xf32>
}

// -----

// Columns of a padded convolution at a stride are packed tap by tap, so that rows of the image are read in order, and
// nothing is asked in them: the first tap has no element in front of the first column.
// CHECK-LABEL: func.func @conv
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: scf.if
// CHECK-NEXT: arith.constant 33
// CHECK-NEXT: arith.constant 32
// CHECK-NEXT: scf.for %{{.*}} = %c1 to %c33 step %c1
// CHECK-NOT: scf.if
// CHECK: memref.load %x
// CHECK: scf.if
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c40 step %c1
// CHECK-NOT: scf.if
// CHECK: memref.load %x
// CHECK: scf.if
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %c40 step %c1
// CHECK-NOT: scf.if
// CHECK: memref.load %x
func.func @conv(%x: tensor<3x80x80xf32> {tiny.name = "x"}, %w: tensor<64x3x3x3xf32> {tiny.name = "w"}) -> (tensor<64x40x40xf32> {tiny.name = "y"}) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 1, 1>, hi = array<i64: 0, 0, 0>, value = 0.0 : f32} : (tensor<3x80x80xf32>) -> tensor<3x81x81xf32>
  %1 = "tiny.reshape"(%0) : (tensor<3x81x81xf32>) -> tensor<1x3x81x81xf32>
  %2 = "tiny.pool"(%1) {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>} : (tensor<1x3x81x81xf32>) -> tensor<1x3x40x40x3x3xf32>
  %3 = "tiny.permute"(%2) {perm = array<i64: 0, 2, 3, 1, 4, 5>} : (tensor<1x3x40x40x3x3xf32>) -> tensor<1x40x40x3x3x3xf32>
  %4 = "tiny.reshape"(%3) : (tensor<1x40x40x3x3x3xf32>) -> tensor<40x40x3x3x3xf32>
  %5 = "tiny.expand"(%4) {broadcast_dimensions = array<i64: 1, 2, 3, 4, 5>} : (tensor<40x40x3x3x3xf32>) -> tensor<64x40x40x3x3x3xf32>
  %6 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 0, 3, 4, 5>} : (tensor<64x3x3x3xf32>) -> tensor<64x40x40x3x3x3xf32>
  %7 = "tiny.mul"(%5, %6) : (tensor<64x40x40x3x3x3xf32>, tensor<64x40x40x3x3x3xf32>) -> tensor<64x40x40x3x3x3xf32>
  %8 = "tiny.reduce"(%7) {axes = array<i64: 3, 4, 5>, op = "sum"} : (tensor<64x40x40x3x3x3xf32>) -> tensor<64x40x40xf32>
  return %8 : tensor<64x40x40xf32>
}

// -----

// Without a stride the places that windows share are packed once: rows of the image are copied between what pads them.
// CHECK-LABEL: func.func @conv
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK: memref.store %cst
// CHECK: scf.if
// CHECK-NEXT: scf.for %{{.*}} = %c1 to %c41 step %c1
// CHECK-NOT: scf.if
// CHECK: memref.load %x
// CHECK: } else {
// CHECK-NEXT: scf.for %{{.*}} = %c1 to %c41 step %c1
// CHECK-NOT: memref.load
// CHECK: memref.store %cst
// CHECK-NOT: memref.load %x
// CHECK: vector.load
func.func @conv(%x: tensor<3x40x40xf32> {tiny.name = "x"}, %w: tensor<64x3x3x3xf32> {tiny.name = "w"}) -> (tensor<64x40x40xf32> {tiny.name = "y"}) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 1, 1>, hi = array<i64: 0, 1, 1>, value = 0.0 : f32} : (tensor<3x40x40xf32>) -> tensor<3x42x42xf32>
  %1 = "tiny.reshape"(%0) : (tensor<3x42x42xf32>) -> tensor<1x3x42x42xf32>
  %2 = "tiny.pool"(%1) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x3x42x42xf32>) -> tensor<1x3x40x40x3x3xf32>
  %3 = "tiny.permute"(%2) {perm = array<i64: 0, 2, 3, 1, 4, 5>} : (tensor<1x3x40x40x3x3xf32>) -> tensor<1x40x40x3x3x3xf32>
  %4 = "tiny.reshape"(%3) : (tensor<1x40x40x3x3x3xf32>) -> tensor<40x40x3x3x3xf32>
  %5 = "tiny.expand"(%4) {broadcast_dimensions = array<i64: 1, 2, 3, 4, 5>} : (tensor<40x40x3x3x3xf32>) -> tensor<64x40x40x3x3x3xf32>
  %6 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 0, 3, 4, 5>} : (tensor<64x3x3x3xf32>) -> tensor<64x40x40x3x3x3xf32>
  %7 = "tiny.mul"(%5, %6) : (tensor<64x40x40x3x3x3xf32>, tensor<64x40x40x3x3x3xf32>) -> tensor<64x40x40x3x3x3xf32>
  %8 = "tiny.reduce"(%7) {axes = array<i64: 3, 4, 5>, op = "sum"} : (tensor<64x40x40x3x3x3xf32>) -> tensor<64x40x40xf32>
  return %8 : tensor<64x40x40xf32>
}

// -----

// The last columns of a depthwise convolution are a whole vector of the CPU, which computes some columns before them
// again; products are added without being rounded where the CPU can.
// CHECK-LABEL: func.func @reduce_sum
// CHECK: scf.for %{{.*}} = %c1 to %c17 step %c1
// CHECK-COUNT-9: math.fma
// CHECK-NOT: math.fma
// CHECK: scf.for %{{.*}} = %c16{{.*}} to %c24 step %c1
// NARROW-LABEL: func.func @reduce_sum
// NARROW: scf.for %{{.*}} = %c1 to %c21 step %c1
// NARROW-NOT: math.fma
// NARROW: scf.for %{{.*}} = %c20{{.*}} to %c24 step %c1
func.func @depthwise(%x: tensor<4x20x25xf32> {tiny.name = "x"}, %w: tensor<4x3x3xf32> {tiny.name = "w"}) -> (tensor<1x4x20x25xf32> {tiny.name = "y"}) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 1, 1>, hi = array<i64: 0, 1, 1>, value = 0.0 : f32} : (tensor<4x20x25xf32>) -> tensor<4x22x27xf32>
  %1 = "tiny.reshape"(%0) : (tensor<4x22x27xf32>) -> tensor<1x4x22x27xf32>
  %2 = "tiny.pool"(%1) {kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x4x22x27xf32>) -> tensor<1x4x20x25x3x3xf32>
  %3 = "tiny.reshape"(%2) : (tensor<1x4x20x25x3x3xf32>) -> tensor<4x20x25x3x3xf32>
  %4 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 0, 3, 4>} : (tensor<4x3x3xf32>) -> tensor<4x20x25x3x3xf32>
  %5 = "tiny.mul"(%3, %4) : (tensor<4x20x25x3x3xf32>, tensor<4x20x25x3x3xf32>) -> tensor<4x20x25x3x3xf32>
  %6 = "tiny.reduce"(%5) {axes = array<i64: 3, 4>, op = "sum"} : (tensor<4x20x25x3x3xf32>) -> tensor<4x20x25xf32>
  %7 = "tiny.reshape"(%6) : (tensor<4x20x25xf32>) -> tensor<1x4x20x25xf32>
  return %7 : tensor<1x4x20x25xf32>
}
