// Reductions, softmax, scans and losses that break a rule.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An axis beyond the rank.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.reduce' axis 2 is none of the 2 axes of fp32 [3, 4]; choose one from -2 to 1 [TC110 InvalidAxis]}}
  %0 = "frontend.reduce"(%a0) {fn = "mean", axes = array<i64: 2>} : (tensor<3x4xf32>) -> tensor<3xf32>
  return
}

// -----

// No such reduction.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.reduce' reduce has no fn 'median'; it is sum, max, min, prod, mean, l1, l2, lp, sum_square, log_sum or log_sum_exp [TC111 InvalidAttribute]}}
  %0 = "frontend.reduce"(%a0) {fn = "median"} : (tensor<3x4xf32>) -> tensor<f32>
  return
}

// -----

// An axis that stays has the extent 1.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.reduce' has the result types tensor<4xf32>; its operands give tensor<1x4xf32>}}
  %0 = "frontend.reduce"(%a0) {fn = "max", axes = array<i64: 0>, keepdims = true} : (tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

// A norm without an exponent.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.reduce' p is 0; it must be positive [TC111 InvalidAttribute]}}
  %0 = "frontend.reduce"(%a0) {fn = "lp", p = 0 : i64} : (tensor<3x4xf32>) -> tensor<f32>
  return
}

// -----

// Integers have no softmax.
func.func @f(%a0: tensor<3xi32>) {
  // expected-error @below {{'frontend.softmax' it takes floats, and its operand is i32; cast it [TC102 DtypeMismatch]}}
  %0 = "frontend.softmax"(%a0) {} : (tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

// Nor a logarithm of it.
func.func @f(%a0: tensor<3xi32>) {
  // expected-error @below {{'frontend.log_softmax' it takes floats, and its operand is i32; cast it [TC102 DtypeMismatch]}}
  %0 = "frontend.log_softmax"(%a0) {} : (tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

// An axis beyond the rank.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.hardmax' axis -3 is none of the 2 axes of fp32 [3, 4]; choose one from -2 to 1 [TC110 InvalidAxis]}}
  %0 = "frontend.hardmax"(%a0) {axis = -3 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// A scan has an axis.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.cumulative' cumulative sum needs the attribute 'axis' [TC111 InvalidAttribute]}}
  %0 = "frontend.cumulative"(%a0) {fn = "sum"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// No such reduction of a loss.
func.func @f(%a0: tensor<3x4xf32>, %a1: tensor<3xi64>) {
  // expected-error @below {{'frontend.nll_loss' reduction is 'median'; it is 'none', 'sum' or 'mean' [TC111 InvalidAttribute]}}
  %0 = "frontend.nll_loss"(%a0, %a1) {reduction = "median"} : (tensor<3x4xf32>, tensor<3xi64>) -> tensor<f32>
  return
}

// -----

// A target for each row.
func.func @f(%a0: tensor<3x4xf32>, %a1: tensor<4xi64>) {
  // expected-error @below {{'frontend.cross_entropy_loss' the shapes [3, 4], [4, 1] do not broadcast: only an extent of 1 repeats [TC101 BroadcastMismatch]}}
  %0:2 = "frontend.cross_entropy_loss"(%a0, %a1) {} : (tensor<3x4xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<3x4xf32>)
  return
}
