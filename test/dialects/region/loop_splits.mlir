// Loops are split where guards change: each part reads what it writes.
// RUN: tinyc-opt --tiny-to-region --region-to-loops --split-input-file %s | filecheck %s

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
