// Ops of this family whose results are not those of their formula.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// rnn has the results of its formula.
func.func @main(%arg0: tensor<2x3x4xf32> {tiny.name = "x"}, %arg1: tensor<1x5x4xf32> {tiny.name = "w"}, %arg2: tensor<1x5x5xf32> {tiny.name = "r"}) {
  // expected-error @below {{'frontend.rnn' has the result types tensor<77xi64>, tensor<1x3x5xf32>; its operands give tensor<2x1x3x5xf32>, tensor<1x3x5xf32>}}
  %0:2 = "frontend.rnn"(%arg0, %arg1, %arg2) {activations = ["relu"], operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>} : (tensor<2x3x4xf32>, tensor<1x5x4xf32>, tensor<1x5x5xf32>) -> (tensor<77xi64>, tensor<1x3x5xf32>)
  return
}

// -----

// gru has the results of its formula.
func.func @main(%arg0: tensor<2x3x4xf32> {tiny.name = "x"}, %arg1: tensor<1x15x4xf32> {tiny.name = "w"}, %arg2: tensor<1x15x5xf32> {tiny.name = "r"}, %arg3: tensor<3xi32> {tiny.name = "lens"}) {
  // expected-error @below {{'frontend.gru' has the result types tensor<77xi64>, tensor<1x3x5xf32>; its operands give tensor<2x1x3x5xf32>, tensor<1x3x5xf32>}}
  %0:2 = "frontend.gru"(%arg0, %arg1, %arg2, %arg3) {linear_before_reset = true, operandSegmentSizes = array<i32: 1, 1, 1, 0, 1, 0>} : (tensor<2x3x4xf32>, tensor<1x15x4xf32>, tensor<1x15x5xf32>, tensor<3xi32>) -> (tensor<77xi64>, tensor<1x3x5xf32>)
  return
}

// -----

// lstm has the results of its formula.
func.func @main(%arg0: tensor<2x3x4xf32> {tiny.name = "x"}, %arg1: tensor<2x20x4xf32> {tiny.name = "w"}, %arg2: tensor<2x20x5xf32> {tiny.name = "r"}, %arg3: tensor<2x15xf32> {tiny.name = "p"}) {
  // expected-error @below {{'frontend.lstm' has the result types tensor<77xi64>, tensor<2x3x5xf32>, tensor<2x3x5xf32>; its operands give tensor<2x2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>}}
  %0:3 = "frontend.lstm"(%arg0, %arg1, %arg2, %arg3) {direction = "bidirectional", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 1>} : (tensor<2x3x4xf32>, tensor<2x20x4xf32>, tensor<2x20x5xf32>, tensor<2x15xf32>) -> (tensor<77xi64>, tensor<2x3x5xf32>, tensor<2x3x5xf32>)
  return
}
