// What reads and writes where its data says survives printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @gathers
func.func @gathers(%x: tensor<4x6xf32>, %i: tensor<2x3xi64>, %n: tensor<2x2xi32>) {
  // CHECK: "frontend.gather"(%{{.*}}, %{{.*}}) {axis = 1 : i64, kind = "axis"}
  %0 = "frontend.gather"(%x, %i) {axis = 1 : i64, kind = "axis"} : (tensor<4x6xf32>, tensor<2x3xi64>) -> tensor<4x2x3xf32>
  // CHECK: {kind = "embedding"}
  %1 = "frontend.gather"(%x, %i) {kind = "embedding"} : (tensor<4x6xf32>, tensor<2x3xi64>) -> tensor<2x3x6xf32>
  // CHECK: {axis = 1 : i64, kind = "elements"}
  %2 = "frontend.gather"(%x, %i) {axis = 1 : i64, kind = "elements"} : (tensor<4x6xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  // CHECK: {kind = "nd"}
  %3 = "frontend.gather"(%x, %n) {kind = "nd"} : (tensor<4x6xf32>, tensor<2x2xi32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @scatters
func.func @scatters(%x: tensor<4x6xf32>, %i: tensor<2x3xi64>, %n: tensor<2x1xi64>, %u: tensor<2x3xf32>, %r: tensor<2x6xf32>) {
  // CHECK: "frontend.scatter"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = 1 : i64, kind = "elements", reduction = "max"}
  %0 = "frontend.scatter"(%x, %i, %u) {axis = 1 : i64, kind = "elements", reduction = "max"} : (tensor<4x6xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<4x6xf32>
  // CHECK: {kind = "nd"}
  %1 = "frontend.scatter"(%x, %n, %r) {kind = "nd"} : (tensor<4x6xf32>, tensor<2x1xi64>, tensor<2x6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<2x4x6xf16>, %s: tensor<2x4x2xf16>, %l: tensor<2xi64>, %v: tensor<2xf32>) {
  // CHECK: "frontend.topk"(%{{.*}}) {k = 3 : i64, largest = false}
  %0:2 = "frontend.topk"(%x) {k = 3 : i64, largest = false} : (tensor<2x4x6xf16>) -> (tensor<2x4x3xf16>, tensor<2x4x3xi64>)
  // CHECK: "frontend.arg_max"(%{{.*}}) {axis = 1 : i64, keepdims = false}
  %1 = "frontend.arg_max"(%x) {axis = 1 : i64, keepdims = false} : (tensor<2x4x6xf16>) -> tensor<2x6xi64>
  // CHECK: "frontend.arg_min"(%{{.*}}) {last = true}
  %2 = "frontend.arg_min"(%x) {last = true} : (tensor<2x4x6xf16>) -> tensor<1x4x6xi64>
  // CHECK: "frontend.one_hot"(%{{.*}}, %{{.*}}) {shape = [2, 5]}
  %3 = "frontend.one_hot"(%l, %v) {shape = [2, 5]} : (tensor<2xi64>, tensor<2xf32>) -> tensor<2x5xf32>
  // CHECK: "frontend.reverse_sequence"(%{{.*}}, %{{.*}}) {batch_axis = 0 : i64, time_axis = 1 : i64}
  %4 = "frontend.reverse_sequence"(%x, %l) {batch_axis = 0 : i64, time_axis = 1 : i64} : (tensor<2x4x6xf16>, tensor<2xi64>) -> tensor<2x4x6xf16>
  // CHECK: "frontend.tensor_scatter"(%{{.*}}, %{{.*}}, %{{.*}}) {axis = -1 : i64, mode = "circular"}
  %5 = "frontend.tensor_scatter"(%x, %s, %l) {axis = -1 : i64, mode = "circular"} : (tensor<2x4x6xf16>, tensor<2x4x2xf16>, tensor<2xi64>) -> tensor<2x4x6xf16>
  return
}
