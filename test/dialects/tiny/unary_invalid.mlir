// Unary ops on element types that they do not take, and results that they do not give.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// exp2 is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.exp2' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.exp2"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// log2 is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.log2' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.log2"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// sqrt is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.sqrt' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.sqrt"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// rsqrt is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.rsqrt' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.rsqrt"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// recip is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.recip' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.recip"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// sin is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.sin' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.sin"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// erf is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.erf' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.erf"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// tanh is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.tanh' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.tanh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// floor is for floats.
func.func @f(%x: tensor<4xi32>) {
  // expected-error @below {{'tiny.floor' the operand is i32, and this op takes floats; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.floor"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// An unsigned number has no negative.
func.func @f(%x: tensor<4xui8>) {
  // expected-error @below {{'tiny.neg' the operand is u8, and this op takes floats and signed integers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.neg"(%x) : (tensor<4xui8>) -> tensor<4xui8>
  return
}

// -----

// Bool is not a number.
func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{'tiny.relu' the operand is bool, and this op takes numbers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.relu"(%x) : (tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// Floats have no bitwise complement.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.not' the operand is fp32, and this op takes integers and bool; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.not"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// The result has the operand's type.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.relu' has the result type tensor<4xf16>; its operands give tensor<4xf32>}}
  %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

// A cast keeps the shape.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.cast' has the result type tensor<2x2xi8>; its operands give tensor<4xi8>}}
  %0 = "tiny.cast"(%x) : (tensor<4xf32>) -> tensor<2x2xi8>
  return
}
