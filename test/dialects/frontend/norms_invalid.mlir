// Norms that break a rule.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An axis beyond the rank.
func.func @f(%a0: tensor<3x4xf32>, %a1: tensor<4xf32>) {
  // expected-error @below {{'frontend.layer_norm' axis 2 is none of the 2 axes of fp32 [3, 4]; choose one from -2 to 1 [TC110 InvalidAxis]}}
  %0:3 = "frontend.layer_norm"(%a0, %a1) {axis = 2 : i64} : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
  return
}

// -----

// The scale has the extent of what is normalised.
func.func @f(%a0: tensor<3x4xf32>, %a1: tensor<5xf32>) {
  // expected-error @below {{'frontend.layer_norm' the shapes [3, 4], [5] do not broadcast: only an extent of 1 repeats [TC101 BroadcastMismatch]}}
  %0:3 = "frontend.layer_norm"(%a0, %a1) {} : (tensor<3x4xf32>, tensor<5xf32>) -> (tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x1xf32>)
  return
}

// -----

// Integers have no norm.
func.func @f(%a0: tensor<3xi32>, %a1: tensor<3xi32>) {
  // expected-error @below {{'frontend.rms_norm' a norm takes floats, and its operand is i32; cast it [TC102 DtypeMismatch]}}
  %0 = "frontend.rms_norm"(%a0, %a1) {} : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

// Groups divide the channels.
func.func @f(%a0: tensor<1x4x3xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) {
  // expected-error @below {{'frontend.group_norm' 4 channels are not 3 groups of them; choose a divisor [TC103 AxisSizeMismatch]}}
  %0 = "frontend.group_norm"(%a0, %a1, %a2) {groups = 3 : i64} : (tensor<1x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x3xf32>
  return
}

// -----

// A scale for each channel.
func.func @f(%a0: tensor<1x4x3xf32>, %a1: tensor<3xf32>, %a2: tensor<4xf32>) {
  // expected-error @below {{'frontend.instance_norm' axis 0 of fp32 [3] and axis 1 of fp32 [1, 4, 3] must be equal; they are 3 and 4 [TC101 BroadcastMismatch]}}
  %0 = "frontend.instance_norm"(%a0, %a1, %a2) {} : (tensor<1x4x3xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<1x4x3xf32>
  return
}

// -----

// A batch norm has a mean and a variance.
func.func @f(%a0: tensor<1x4x3xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>) {
  // expected-error @below {{'frontend.batch_norm' batch_norm takes the operands x, scale, bias, mean, variance, and is given x, scale, bias [TC111 InvalidAttribute]}}
  %0 = "frontend.batch_norm"(%a0, %a1, %a2) {} : (tensor<1x4x3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x3xf32>
  return
}

// -----

// Its statistics are vectors.
func.func @f(%a0: tensor<1x4x3xf32>, %a1: tensor<4xf32>, %a2: tensor<4xf32>, %a3: tensor<4xf32>, %a4: tensor<4xf32>) {
  // expected-error @below {{'frontend.batch_norm_training' has the result types tensor<1x4x3xf32>, tensor<1x4x1xf32>, tensor<4xf32>; its operands give tensor<1x4x3xf32>, tensor<4xf32>, tensor<4xf32>}}
  %0:3 = "frontend.batch_norm_training"(%a0, %a1, %a2, %a3, %a4) {} : (tensor<1x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1x4x3xf32>, tensor<1x4x1xf32>, tensor<4xf32>)
  return
}

// -----

// A norm of another exponent.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.lp_norm' p is 3; it is 1 or 2 [TC111 InvalidAttribute]}}
  %0 = "frontend.lp_norm"(%a0) {p = 3 : i64} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// Axes have to be given.
func.func @f(%a0: tensor<3x4xf32>) {
  // expected-error @below {{'frontend.mean_variance_norm' mean_variance_norm needs the attribute 'axes' [TC111 InvalidAttribute]}}
  %0 = "frontend.mean_variance_norm"(%a0) {} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

// A norm over no channels.
func.func @f(%a0: tensor<1x4x3xf32>) {
  // expected-error @below {{'frontend.local_response_norm' a norm over 0 channels of fp32 [1, 4, 3]: size must be positive [TC111 InvalidAttribute]}}
  %0 = "frontend.local_response_norm"(%a0) {size = 0 : i64} : (tensor<1x4x3xf32>) -> tensor<1x4x3xf32>
  return
}
