// Pooling that breaks a rule.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A kernel of as many axes as are spatial.
func.func @f(%a0: tensor<1x4x3xf32>) {
  // expected-error @below {{'frontend.pool' a kernel [2, 2] with stride None, dilation None and pads None on fp32 [1, 4, 3]; give one of each for each axis behind the first two [TC111 InvalidAttribute]}}
  %0 = "frontend.pool"(%a0) {fn = "max", kernel = array<i64: 2, 2>} : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return
}

// -----

// A window larger than the axis.
func.func @f(%a0: tensor<1x4x3xf32>) {
  // expected-error @below {{'frontend.pool' the window of 4 elements is larger than axis 2 of extent 3; pad it first [TC112 WindowTooLarge]}}
  %0 = "frontend.pool"(%a0) {fn = "average", kernel = array<i64: 4>} : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return
}

// -----

// Indices are 64 bits wide.
func.func @f(%a0: tensor<1x4x3xf32>) {
  // expected-error @below {{'frontend.max_pool_indices' has the result types tensor<1x4x2xf32>, tensor<1x4x2xi32>; its operands give tensor<1x4x2xf32>, tensor<1x4x2xi64>}}
  %0:2 = "frontend.max_pool_indices"(%a0) {kernel = array<i64: 2>} : (tensor<1x4x3xf32>) -> (tensor<1x4x2xf32>, tensor<1x4x2xi32>)
  return
}

// -----

// An index for each element.
func.func @f(%a0: tensor<1x4x3xf32>, %a1: tensor<1x4x2xi64>) {
  // expected-error @below {{'frontend.max_unpool' the indices are i64 [1, 4, 2], and the elements fp32 [1, 4, 3] [TC103 AxisSizeMismatch]}}
  %0 = "frontend.max_unpool"(%a0, %a1) {shape = [1, 4, 6]} : (tensor<1x4x3xf32>, tensor<1x4x2xi64>) -> tensor<1x4x6xf32>
  return
}
