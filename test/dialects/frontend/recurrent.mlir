// Recurrent layers survive printing and parsing, with operands left out.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @rnn
func.func @rnn(%arg0: tensor<2x3x4xf32> {tiny.name = "x"}, %arg1: tensor<1x5x4xf32> {tiny.name = "w"}, %arg2: tensor<1x5x5xf32> {tiny.name = "r"}) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>) {
  // CHECK: "frontend.rnn"(%{{.*}}, %{{.*}}, %{{.*}}) {activations = ["relu"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  %0:2 = "frontend.rnn"(%arg0, %arg1, %arg2) {activations = ["relu"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  return %0#0, %0#1 : tensor<2x1x3x5xf32>, tensor<1x3x5xf32>
}

// CHECK-LABEL: func.func @gru
func.func @gru(%arg0: tensor<2x3x4xf32> {tiny.name = "x"}, %arg1: tensor<1x15x4xf32> {tiny.name = "w"}, %arg2: tensor<1x15x5xf32> {tiny.name = "r"}, %arg3: tensor<3xi32> {tiny.name = "lens"}) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>) {
  // CHECK: "frontend.gru"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>} : (tensor<2x3x4xf32>, tensor<1x15x4xf32>, tensor<1x15x5xf32>, tensor<3xi32>) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  %0:2 = "frontend.gru"(%arg0, %arg1, %arg2, %arg3) {linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>} : (tensor<2x3x4xf32>, tensor<1x15x4xf32>, tensor<1x15x5xf32>, tensor<3xi32>) -> (tensor<2x1x3x5xf32>, tensor<1x3x5xf32>)
  return %0#0, %0#1 : tensor<2x1x3x5xf32>, tensor<1x3x5xf32>
}

// CHECK-LABEL: func.func @lstm
func.func @lstm(%arg0: tensor<2x3x4xf32> {tiny.name = "x"}, %arg1: tensor<2x20x4xf32> {tiny.name = "w"}, %arg2: tensor<2x20x5xf32> {tiny.name = "r"}, %arg3: tensor<2x15xf32> {tiny.name = "p"}) -> (tensor<2x2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>) {
  // CHECK: "frontend.lstm"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {direction = "bidirectional", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>} : (tensor<2x3x4xf32>, tensor<2x20x4xf32>, tensor<2x20x5xf32>, tensor<2x15xf32>) -> (tensor<2x2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>)
  %0:3 = "frontend.lstm"(%arg0, %arg1, %arg2, %arg3) {direction = "bidirectional", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>} : (tensor<2x3x4xf32>, tensor<2x20x4xf32>, tensor<2x20x5xf32>, tensor<2x15xf32>) -> (tensor<2x2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>
}
