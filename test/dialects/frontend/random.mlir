// Random numbers, and what is drawn by them, survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @random_uniform
func.func @random_uniform() -> tensor<3x5xf32> {
  // CHECK: "frontend.random"() {distribution = "uniform", element = f32, seed = 7 : i64, shape = [3, 5]} : () -> tensor<3x5xf32>
  %0 = "frontend.random"() {distribution = "uniform", element = f32, seed = 7 : i64, shape = [3, 5]} : () -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @random_bernoulli
func.func @random_bernoulli(%arg0: tensor<4xf32> {tiny.name = "p"}) -> tensor<4xi1> {
  // CHECK: "frontend.random"(%{{.*}}) {distribution = "bernoulli", element = i1, stream = 3 : i64} : (tensor<4xf32>) -> tensor<4xi1>
  %0 = "frontend.random"(%arg0) {distribution = "bernoulli", element = i1, stream = 3 : i64} : (tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// CHECK-LABEL: func.func @multinomial
func.func @multinomial(%arg0: tensor<2x3xf32> {tiny.name = "scores"}) -> tensor<2x4xi32> {
  // CHECK: "frontend.multinomial"(%{{.*}}) {element = i32, samples = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x4xi32>
  %0 = "frontend.multinomial"(%arg0) {element = i32, samples = 4 : i64} : (tensor<2x3xf32>) -> tensor<2x4xi32>
  return %0 : tensor<2x4xi32>
}

// CHECK-LABEL: func.func @dropout
func.func @dropout(%arg0: tensor<4xf32> {tiny.name = "x"}, %arg1: tensor<i1> {tiny.name = "training"}) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: "frontend.dropout"(%{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 0, 1>, seed = 2 : i64} : (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xi1>)
  %0:2 = "frontend.dropout"(%arg0, %arg1) {operandSegmentSizes = array<i32: 1, 0, 1>, seed = 2 : i64} : (tensor<4xf32>, tensor<i1>) -> (tensor<4xf32>, tensor<4xi1>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi1>
}
