// Ops of this family whose results are not those of their formula.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// random has the results of its formula.
func.func @main() {
  // expected-error @below {{'frontend.random' has the result types tensor<77xi64>; its operands give tensor<3x5xf32>}}
  %0 = "frontend.random"() {distribution = "uniform", element = f32, seed = 7 : i64, shape = [3, 5]} : () -> tensor<77xi64>
  return
}

// -----

// random has the results of its formula.
func.func @main(%arg0: tensor<4xf32> {tiny.name = "p"}) {
  // expected-error @below {{'frontend.random' has the result types tensor<77xi64>; its operands give tensor<4xi1>}}
  %0 = "frontend.random"(%arg0) {distribution = "bernoulli", element = i1, stream = 3 : i64} : (tensor<4xf32>) -> tensor<77xi64>
  return
}

// -----

// multinomial has the results of its formula.
func.func @main(%arg0: tensor<2x3xf32> {tiny.name = "scores"}) {
  // expected-error @below {{'frontend.multinomial' has the result types tensor<77xi64>; its operands give tensor<2x4xi32>}}
  %0 = "frontend.multinomial"(%arg0) {element = i32, samples = 4 : i64} : (tensor<2x3xf32>) -> tensor<77xi64>
  return
}

// -----

// dropout has the results of its formula.
func.func @main(%arg0: tensor<4xf32> {tiny.name = "x"}, %arg1: tensor<i1> {tiny.name = "training"}) {
  // expected-error @below {{'frontend.dropout' has the result types tensor<77xi64>, tensor<4xi1>; its operands give tensor<4xf32>, tensor<4xi1>}}
  %0:2 = "frontend.dropout"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 0, 1>, seed = 2 : i64} : (tensor<4xf32>, tensor<i1>) -> (tensor<77xi64>, tensor<4xi1>)
  return
}
