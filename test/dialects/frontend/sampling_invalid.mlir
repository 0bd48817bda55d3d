// Sampling that breaks a rule.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A matrix of one column more than it has rows.
func.func @f(%a0: tensor<1x2x2xf32>) {
  // expected-error @below {{'frontend.affine_grid' theta is fp32 [1, 2, 2], and must be [batch, 2, 3] [TC103 AxisSizeMismatch]}}
  %0 = "frontend.affine_grid"(%a0) {size = [4, 4]} : (tensor<1x2x2xf32>) -> tensor<1x4x4x2xf32>
  return
}

// -----

// A coordinate for each spatial axis.
func.func @f(%a0: tensor<1x2x3x4xf32>, %a1: tensor<1x5x5x3xf32>) {
  // expected-error @below {{'frontend.grid_sample' the grid of fp32 [1, 2, 3, 4] is fp32 [1, 5, 5, 3]; its last axis must be 2 long [TC103 AxisSizeMismatch]}}
  %0 = "frontend.grid_sample"(%a0, %a1) {} : (tensor<1x2x3x4xf32>, tensor<1x5x5x3xf32>) -> tensor<1x2x5x5xf32>
  return
}

// -----

// Samples are counted.
func.func @f(%a0: tensor<1x2x3x4xf32>, %a1: tensor<5x4xf32>, %a2: tensor<5xi64>) {
  // expected-error @below {{'frontend.roi_align' mode 'avg', size [2, 2] and 0 samples of fp32 [1, 2, 3, 4] at fp32 [5, 4]: mode is 'avg' or 'max', size has two numbers, rois are [n, 4] [TC111 InvalidAttribute]}}
  %0 = "frontend.roi_align"(%a0, %a1, %a2) {size = array<i64: 2, 2>, samples = 0 : i64} : (tensor<1x2x3x4xf32>, tensor<5x4xf32>, tensor<5xi64>) -> tensor<5x2x2x2xf32>
  return
}
