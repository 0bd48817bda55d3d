// Reductions and leaves that break their typing rule.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An axis twice.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reduce' axes [0, 0] must be distinct axes of fp32 [4, 3], which has rank 2 [TC110 InvalidAxis]}}
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<3xf32>
  return
}

// -----

// An axis beyond the rank.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reduce' axes [2] must be distinct axes of fp32 [4, 3], which has rank 2 [TC110 InvalidAxis]}}
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 2>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// No such reduction.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reduce' the reduction 'mean' is not one of sum, max, min, prod [TC111 InvalidAttribute]}}
  %0 = "tiny.reduce"(%x) {op = "mean", axes = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32>
  return
}

// -----

// 001 §3, rule 3: reduced axes are removed.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reduce' has the result type tensor<4x1xf32>; its operands give tensor<4xf32>}}
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4x1xf32>
  return
}

// -----

// Floats do not accumulate in integers.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reduce' cannot accumulate fp32 in i32; cast the operand first [TC102 DtypeMismatch]}}
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xi32>
  return
}

// -----

// A sum of bool is a number.
func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{'tiny.reduce' cannot accumulate the sum of bool in bool; use i32 [TC102 DtypeMismatch]}}
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 0>} : (tensor<4xi1>) -> tensor<i1>
  return
}

// -----

// A maximum of numbers is a number.
func.func @f(%x: tensor<4xi8>) {
  // expected-error @below {{'tiny.reduce' cannot accumulate the max of i8 in bool; use i32 [TC102 DtypeMismatch]}}
  %0 = "tiny.reduce"(%x) {op = "max", axes = array<i64: 0>} : (tensor<4xi8>) -> tensor<i1>
  return
}

// -----

// The value is of the result's element type.
func.func @f() {
  // expected-error @below {{'tiny.const' value 1 : i32 is of type i32; the elements are f32 [TC102 DtypeMismatch]}}
  %0 = "tiny.const"() {value = 1 : i32} : () -> tensor<4xf32>
  return
}

// -----

// A const is a number or a tensor.
func.func @f() {
  // expected-error @below {{'tiny.const' attribute 'value' is dense<1.000000e+00> : vector<4xf32>; it must be a number, or the elements of a tensor [TC111 InvalidAttribute]}}
  %0 = "tiny.const"() {value = dense<1.0> : vector<4xf32>} : () -> tensor<4xf32>
  return
}

// -----

// An axis of the result.
func.func @f() {
  // expected-error @below {{'tiny.iota' the iota's axis 1 is not an axis of [4] [TC110 InvalidAxis]}}
  %0 = "tiny.iota"() {axis = 1 : i64} : () -> tensor<4xi32>
  return
}

// -----

// Bool does not count.
func.func @f() {
  // expected-error @below {{'tiny.iota' an iota counts in numbers, not in bool; use i32 and cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.iota"() {axis = 0 : i64} : () -> tensor<2xi1>
  return
}

// -----

// The last index does not fit.
func.func @f() {
  // expected-error @below {{'tiny.iota' an iota over 129 does not fit i8; use a wider type [TC102 DtypeMismatch]}}
  %0 = "tiny.iota"() {axis = 0 : i64} : () -> tensor<129xi8>
  return
}

// -----

// Random numbers are floats.
func.func @f() {
  // expected-error @below {{'tiny.rand' random numbers are floats, not i32; cast them [TC102 DtypeMismatch]}}
  %0 = "tiny.rand"() {distribution = "uniform", seed = 0 : i64, stream = 0 : i64} : () -> tensor<4xi32>
  return
}

// -----

// No such distribution.
func.func @f() {
  // expected-error @below {{'tiny.rand' the distribution 'gauss' is not 'uniform' or 'normal' [TC111 InvalidAttribute]}}
  %0 = "tiny.rand"() {distribution = "gauss", seed = 0 : i64, stream = 0 : i64} : () -> tensor<4xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'tiny.const' the constant's elements are float32 [2], and its type is f32 [3]; give them one type, of known extents [TC102 DtypeMismatch]}}
  %0 = "tiny.const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'tiny.const' the constant's elements are int32 [2], and its type is f32 [2]; give them one type, of known extents [TC102 DtypeMismatch]}}
  %0 = "tiny.const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xf32>
  return
}

// -----

func.func @f() {
  // expected-error @below {{'tiny.const' the constant's elements are float32 [2], and its type is f32 [M]; give them one type, of known extents [TC102 DtypeMismatch]}}
  %0 = "tiny.const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<?xf32, #tiny.dims<["M"]>>
  return
}
