// Every reduction survives printing and parsing; the result's element type is the accumulator's.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<4x3xf16>) {
  // CHECK: "tiny.reduce"(%[[X:.*]]) {axes = array<i64: 1>, op = "sum"} : (tensor<4x3xf16>) -> tensor<4xf32>
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 1>} : (tensor<4x3xf16>) -> tensor<4xf32>
  // CHECK: "tiny.reduce"(%[[X]]) {axes = array<i64: 0>, op = "max"} : (tensor<4x3xf16>) -> tensor<3xf16>
  %1 = "tiny.reduce"(%x) {op = "max", axes = array<i64: 0>} : (tensor<4x3xf16>) -> tensor<3xf16>
  // CHECK: "tiny.reduce"(%[[X]]) {axes = array<i64: 0, 1>, op = "min"} : (tensor<4x3xf16>) -> tensor<f16>
  %2 = "tiny.reduce"(%x) {op = "min", axes = array<i64: 0, 1>} : (tensor<4x3xf16>) -> tensor<f16>
  // CHECK: "tiny.reduce"(%[[X]]) {axes = array<i64>, op = "prod"} : (tensor<4x3xf16>) -> tensor<4x3xf64>
  %3 = "tiny.reduce"(%x) {op = "prod", axes = array<i64>} : (tensor<4x3xf16>) -> tensor<4x3xf64>
  return
}

// CHECK-LABEL: func.func @any_and_all
func.func @any_and_all(%x: tensor<4xi1>) {
  // CHECK: "tiny.reduce"(%{{.*}}) {axes = array<i64: 0>, op = "max"} : (tensor<4xi1>) -> tensor<i1>
  %0 = "tiny.reduce"(%x) {op = "max", axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>
  // CHECK: "tiny.reduce"(%{{.*}}) {axes = array<i64: 0>, op = "sum"} : (tensor<4xi1>) -> tensor<i32>
  %1 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i32>
  return
}

// CHECK-LABEL: func.func @empty_axis
func.func @empty_axis(%x: tensor<0x3xf32>) -> tensor<3xf32> {
  // CHECK: "tiny.reduce"(%{{.*}}) {axes = array<i64: 0>, op = "sum"} : (tensor<0x3xf32>) -> tensor<3xf32>
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 0>} : (tensor<0x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
