// What element-wise ops refuse.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{it takes floats, and its operand is i32; cast it}}
  %0 = "frontend.elementwise"(%x) {fn = "exp"} : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{elementwise has no fn 'expp'}}
  %0 = "frontend.elementwise"(%x) {fn = "expp"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{elementwise modulo takes the operands x, y, and is given x}}
  %0 = "frontend.elementwise"(%x) {fn = "modulo"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{alpha is 0.0; celu takes one above 0}}
  %0 = "frontend.elementwise"(%x) {alpha = 0.0 : f64, fn = "celu"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4xf32>, %y: tensor<2x1xf32>) {
  // expected-error @below {{do not broadcast to}}
  %0 = "frontend.elementwise"(%x, %y) {fn = "prelu"} : (tensor<1x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{bitcast of fp32 to i16: both must have as many bits}}
  %0 = "frontend.bitcast"(%x) {element = i16} : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{the condition is fp32, not bool; cast it}}
  %0 = "frontend.where"(%x, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
