// Reductions, and what is made of them along an axis.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @mean
func.func @mean(%x: tensor<?x4xf16, #tiny.dims<["N", 4]>>) -> tensor<?x1xf16, #tiny.dims<["N", 1]>> {
  // CHECK: "frontend.reduce"(%{{.*}}) {axes = array<i64: 1>, fn = "mean", keepdims = true}
  %0 = "frontend.reduce"(%x) {axes = array<i64: 1>, fn = "mean", keepdims = true} : (tensor<?x4xf16, #tiny.dims<["N", 4]>>) -> tensor<?x1xf16, #tiny.dims<["N", 1]>>
  return %0 : tensor<?x1xf16, #tiny.dims<["N", 1]>>
}

// CHECK-LABEL: func.func @norm_of_any_exponent
func.func @norm_of_any_exponent(%x: tensor<3x4xf32>) -> tensor<f32> {
  // CHECK: "frontend.reduce"(%{{.*}}) {fn = "lp", p = 3 : i64}
  %0 = "frontend.reduce"(%x) {fn = "lp", p = 3 : i64} : (tensor<3x4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>> {
  // CHECK: "frontend.softmax"(%{{.*}}) {axis = 1 : i64}
  %0 = "frontend.softmax"(%x) {axis = 1 : i64} : (tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>>
  return %0 : tensor<?x4xf32, #tiny.dims<["N", 4]>>
}

// CHECK-LABEL: func.func @log_softmax
func.func @log_softmax(%x: tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>> {
  // CHECK: "frontend.log_softmax"(%{{.*}}) {axis = 0 : i64}
  %0 = "frontend.log_softmax"(%x) {axis = 0 : i64} : (tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>>
  return %0 : tensor<?x4xf32, #tiny.dims<["N", 4]>>
}

// CHECK-LABEL: func.func @hardmax
func.func @hardmax(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // CHECK: "frontend.hardmax"(%{{.*}})
  %0 = "frontend.hardmax"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @cumulative
func.func @cumulative(%x: tensor<?x4xi64, #tiny.dims<["N", 4]>>) -> tensor<?x4xi64, #tiny.dims<["N", 4]>> {
  // CHECK: "frontend.cumulative"(%{{.*}}) {axis = 1 : i64, fn = "sum", reverse = true}
  %0 = "frontend.cumulative"(%x) {axis = 1 : i64, fn = "sum", reverse = true} : (tensor<?x4xi64, #tiny.dims<["N", 4]>>) -> tensor<?x4xi64, #tiny.dims<["N", 4]>>
  return %0 : tensor<?x4xi64, #tiny.dims<["N", 4]>>
}

// CHECK-LABEL: func.func @nll_loss
func.func @nll_loss(%scores: tensor<?x5xf32, #tiny.dims<["N", 5]>>, %target: tensor<?xi64, #tiny.dims<["N"]>>, %weight: tensor<5xf32>) -> tensor<?xf32, #tiny.dims<["N"]>> {
  // CHECK: "frontend.nll_loss"(%{{.*}}, %{{.*}}, %{{.*}}) {ignore_index = -1 : i64, reduction = "none"}
  %0 = "frontend.nll_loss"(%scores, %target, %weight) {ignore_index = -1 : i64, reduction = "none"} : (tensor<?x5xf32, #tiny.dims<["N", 5]>>, tensor<?xi64, #tiny.dims<["N"]>>, tensor<5xf32>) -> tensor<?xf32, #tiny.dims<["N"]>>
  return %0 : tensor<?xf32, #tiny.dims<["N"]>>
}

// CHECK-LABEL: func.func @cross_entropy_loss
func.func @cross_entropy_loss(%scores: tensor<?x5xf32, #tiny.dims<["N", 5]>>, %target: tensor<?xi64, #tiny.dims<["N"]>>) -> (tensor<f32>, tensor<?x5xf32, #tiny.dims<["N", 5]>>) {
  // CHECK: "frontend.cross_entropy_loss"(%{{.*}}, %{{.*}})
  %0:2 = "frontend.cross_entropy_loss"(%scores, %target) : (tensor<?x5xf32, #tiny.dims<["N", 5]>>, tensor<?xi64, #tiny.dims<["N"]>>) -> (tensor<f32>, tensor<?x5xf32, #tiny.dims<["N", 5]>>)
  return %0#0, %0#1 : tensor<f32>, tensor<?x5xf32, #tiny.dims<["N", 5]>>
}
