// The data-dependent ops: index types, axes, updates, counts.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An index is an integer that can be negative or not, 32 or 64 bits wide.
func.func @f(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error @below {{'tiny.gather' the index is fp32; cast it to i32 or i64 [TC102 DtypeMismatch]}}
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

// An axis of the data.
func.func @f(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{'tiny.gather' axis 1 is not an axis of fp32 [4], which has rank 1 [TC110 InvalidAxis]}}
  %0 = "tiny.gather"(%x, %i) {axis = 1 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return
}

// -----

// The index's axes replace the gathered one.
func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xi64>) {
  // expected-error @below {{'tiny.gather' has the result type tensor<4x3xf32>; its operands give tensor<2x3xf32>}}
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  return
}

// -----

// Updates of another shape.
func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xi64>, %u: tensor<3x3xf32>) {
  // expected-error @below {{'tiny.scatter' the updates of a scatter along axis 0 must be fp32 [2, 3], and are fp32 [3, 3] [TC103 AxisSizeMismatch]}}
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "set"} : (tensor<4x3xf32>, tensor<2xi64>, tensor<3x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Updates of another element type.
func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xi64>, %u: tensor<2x3xf16>) {
  // expected-error @below {{'tiny.scatter' the updates of a scatter along axis 0 must be fp32 [2, 3], and are fp16 [2, 3] [TC102 DtypeMismatch]}}
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "set"} : (tensor<4x3xf32>, tensor<2xi64>, tensor<2x3xf16>) -> tensor<4x3xf32>
  return
}

// -----

// No such combination.
func.func @f(%x: tensor<4x3xf32>, %i: tensor<2xi64>, %u: tensor<2x3xf32>) {
  // expected-error @below {{'tiny.scatter' the op of a scatter 'max' is not set or add [TC111 InvalidAttribute]}}
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "max"} : (tensor<4x3xf32>, tensor<2xi64>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Bool does not add up.
func.func @f(%x: tensor<4xi1>, %i: tensor<2xi64>, %u: tensor<2xi1>) {
  // expected-error @below {{'tiny.scatter' the operand is bool, and this op takes numbers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "add"} : (tensor<4xi1>, tensor<2xi64>, tensor<2xi1>) -> tensor<4xi1>
  return
}

// -----

// More than there are.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.topk' k = 5 is larger than axis 0 of fp32 [4] [TC113 IndexOutOfBounds]}}
  %0:2 = "tiny.topk"(%x) {axis = 0 : i64, k = 5 : i64, largest = true} : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi64>)
  return
}

// -----

// Fewer than none.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.topk' k = -1 is negative [TC111 InvalidAttribute]}}
  %0:2 = "tiny.topk"(%x) {axis = 0 : i64, k = -1 : i64, largest = true} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  return
}

// -----

// An axis of the operand.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.topk' axes [1] must be distinct axes of fp32 [4], which has rank 1 [TC110 InvalidAxis]}}
  %0:2 = "tiny.topk"(%x) {axis = 1 : i64, k = 1 : i64, largest = true} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return
}

// -----

// Bool has no order.
func.func @f(%x: tensor<4xi1>) {
  // expected-error @below {{'tiny.topk' the operand is bool, and this op takes numbers; cast it [TC102 DtypeMismatch]}}
  %0:2 = "tiny.topk"(%x) {axis = 0 : i64, k = 1 : i64, largest = true} : (tensor<4xi1>) -> (tensor<1xi1>, tensor<1xi64>)
  return
}

// -----

// The indices are 64 bits wide.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.topk' has the result type tensor<1xf32>, tensor<1xi32>; its operands give tensor<1xf32>, tensor<1xi64>}}
  %0:2 = "tiny.topk"(%x) {axis = 0 : i64, k = 1 : i64, largest = true} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xi32>)
  return
}
