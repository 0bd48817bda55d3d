// The whole of a Tiny function: named inputs and outputs, constants unnamed, an output that is an input.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x3xf32> {tiny.name = "x"})
// CHECK-SAME: -> (tensor<4xf32> {tiny.name = "y"}, tensor<4x3xf32> {tiny.name = "x"})
func.func @main(%x: tensor<4x3xf32> {tiny.name = "x"}) -> (tensor<4xf32> {tiny.name = "y"}, tensor<4x3xf32> {tiny.name = "x"}) {
  // CHECK: %[[RELU:.*]] = "tiny.relu"(%[[X]])
  %0 = "tiny.relu"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: %[[SUM:.*]] = "tiny.reduce"(%[[RELU]])
  %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
  // CHECK: return %[[SUM]], %[[X]]
  return %1, %x : tensor<4xf32>, tensor<4x3xf32>
}
