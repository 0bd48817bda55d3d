// The data-dependent ops survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// The index's axes stand in the place of the gathered one.
// CHECK-LABEL: func.func @gather
func.func @gather(%x: tensor<4x5x6xf32>, %i: tensor<2x3xi32>) -> tensor<4x2x3x6xf32> {
  // CHECK: "tiny.gather"(%{{.*}}) {axis = 1 : i64} : (tensor<4x5x6xf32>, tensor<2x3xi32>) -> tensor<4x2x3x6xf32>
  %0 = "tiny.gather"(%x, %i) {axis = 1 : i64} : (tensor<4x5x6xf32>, tensor<2x3xi32>) -> tensor<4x2x3x6xf32>
  return %0 : tensor<4x2x3x6xf32>
}

// CHECK-LABEL: func.func @gather_one
func.func @gather_one(%x: tensor<4xf32>, %i: tensor<i64>) -> tensor<f32> {
  // CHECK: "tiny.gather"(%{{.*}}) {axis = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<4xf32>, tensor<i64>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3xi64>, %u: tensor<3x5xf32>) {
  // CHECK: "tiny.scatter"(%[[X:.*]], %[[I:.*]], %[[U:.*]]) {axis = 0 : i64, op = "set"}
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "set"} : (tensor<4x5xf32>, tensor<3xi64>, tensor<3x5xf32>) -> tensor<4x5xf32>
  // CHECK: "tiny.scatter"(%[[X]], %[[I]], %[[U]]) {axis = 0 : i64, op = "add"}
  %1 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "add"} : (tensor<4x5xf32>, tensor<3xi64>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: func.func @topk
func.func @topk(%x: tensor<4x5xf16>) -> (tensor<4x2xf16>, tensor<4x2xi64>) {
  // CHECK: "tiny.topk"(%{{.*}}) {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<4x5xf16>) -> (tensor<4x2xf16>, tensor<4x2xi64>)
  %0:2 = "tiny.topk"(%x) {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<4x5xf16>) -> (tensor<4x2xf16>, tensor<4x2xi64>)
  return %0#0, %0#1 : tensor<4x2xf16>, tensor<4x2xi64>
}
