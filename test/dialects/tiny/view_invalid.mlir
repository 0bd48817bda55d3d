// Views whose map reaches outside its operand, or is not a map that a view may have.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An index beyond the operand.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'tiny.view' index_map expression '2*i0 + i1' reaches from 0 to 8, outside operand axis 0 of extent 8; change result_shape or the expression, or pad the operand first [TC113 IndexOutOfBounds]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0, d1) -> (d0 * 2 + d1)>} : (tensor<8xf32>) -> tensor<4x3xf32>
  return
}

// -----

// An index before the operand.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'tiny.view' index_map expression 'i0 - 1' reaches from -1 to 6, outside operand axis 0 of extent 8}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 - 1)>} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// One past the exact maximum (see view.mlir).
func.func @f(%x: tensor<10xf32>) {
  // expected-error @below {{reaches from 0 to 10, outside operand axis 0 of extent 10}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 + d0 mod 4)>} : (tensor<10xf32>) -> tensor<9xf32>
  return
}

// -----

// An axis that runs backwards.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{runs an axis backwards (coefficient -1); write FLIP on that axis and keep the coefficients of VIEW positive [TC107 NegativeStride]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (3 - d0)>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Nine divisions.
func.func @f(%x: tensor<400xf32>) {
  // expected-error @below {{'tiny.view' index_map expression 0 has 9 divisions; the limit is 8. Split the VIEW into several movements [TC106 ExcessivePiecewise]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 floordiv 2 + d0 floordiv 3 + d0 floordiv 4 + d0 floordiv 5 + d0 floordiv 6 + d0 floordiv 7 + d0 floordiv 8 + d0 floordiv 9 + d0 floordiv 10)>} : (tensor<400xf32>) -> tensor<20xf32>
  return
}

// -----

// An expression for each operand axis.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.view' index_map has 1 expressions for the 2 axes of fp32 [4, 3]; give one for each [TC111 InvalidAttribute]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0)>} : (tensor<4x3xf32>) -> tensor<4xf32>
  return
}

// -----

// The map is over the result's axes.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.view' affine_map<(d0, d1) -> (d0)> is over 2 axes; the result has 1 [TC111 InvalidAttribute]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0, d1) -> (d0)>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// No symbols: extents stand in types.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.view' (d0)[s0] -> (d0) has symbols; a view's map has only the result axes [TC111 InvalidAttribute]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0)[s0] -> (d0)>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// No ceildiv.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.view' d0 ceildiv 2 is not made of + - * floordiv mod with positive divisors [TC111 InvalidAttribute]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 ceildiv 2)>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// No division by 0.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.view' d0 floordiv 0 is not made of + - * floordiv mod with positive divisors [TC111 InvalidAttribute]}}
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 floordiv 0)>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
