// Resizing that breaks a rule.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An extent for each axis.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.resize' shape [6], scales None and crop None do not fit fp32 [3, 4] [TC111 InvalidAttribute]}}
  %0 = "frontend.resize"(%a0) {shape = [6]} : (tensor<3x4xf32>) -> tensor<6xf32>
  return
}

// -----

// No such mode.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.resize' mode is 'best'; it is nearest, linear or cubic [TC111 InvalidAttribute]}}
  %0 = "frontend.resize"(%a0) {shape = [6, 8], mode = "best"} : (tensor<3x4xf32>) -> tensor<6x8xf32>
  return
}
