// Binary ops, comparisons and `where`: rules 1 and 2 of 001 §3, element types, results.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// add takes numbers.
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // expected-error @below {{'tiny.add' the operand is bool, and this op takes numbers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.add"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// sub takes numbers.
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // expected-error @below {{'tiny.sub' the operand is bool, and this op takes numbers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.sub"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// mul takes numbers.
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // expected-error @below {{'tiny.mul' the operand is bool, and this op takes numbers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.mul"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// fdiv takes floats.
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi32>) {
  // expected-error @below {{'tiny.fdiv' the operand is i32, and this op takes floats (IDIV divides integers); cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.fdiv"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

// idiv takes integers.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'tiny.idiv' the operand is fp32, and this op takes integers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.idiv"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// mod takes integers.
func.func @f(%x: tensor<4xi1>, %y: tensor<4xi1>) {
  // expected-error @below {{'tiny.mod' the operand is bool, and this op takes integers; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.mod"(%x, %y) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

// and takes integers and bool.
func.func @f(%x: tensor<4xf16>, %y: tensor<4xf16>) {
  // expected-error @below {{'tiny.and' the operand is fp16, and this op takes integers and bool; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.and"(%x, %y) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
  return
}

// -----

// or takes integers and bool.
func.func @f(%x: tensor<4xf64>, %y: tensor<4xf64>) {
  // expected-error @below {{'tiny.or' the operand is fp64, and this op takes integers and bool; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.or"(%x, %y) : (tensor<4xf64>, tensor<4xf64>) -> tensor<4xf64>
  return
}

// -----

// xor takes integers and bool.
func.func @f(%x: tensor<4xbf16>, %y: tensor<4xbf16>) {
  // expected-error @below {{'tiny.xor' the operand is bf16, and this op takes integers and bool; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.xor"(%x, %y) : (tensor<4xbf16>, tensor<4xbf16>) -> tensor<4xbf16>
  return
}

// -----

// 001 §3, rule 1: no implicit broadcast, not even of an extent of 1.
func.func @f(%x: tensor<4x3xf32>, %y: tensor<4x1xf32>) {
  // expected-error @below {{'tiny.max' axis 1 has extent 3 on the left and 1 on the right (fp32 [4, 3] and fp32 [4, 1]); only an extent of 1 can be expanded [TC101 BroadcastMismatch]}}
  %0 = "tiny.max"(%x, %y) : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  return
}

// -----

// 001 §3, rule 1: equal ranks.
func.func @f(%x: tensor<4x3xf32>, %y: tensor<3xf32>) {
  // expected-error @below {{'tiny.min' the operands have ranks 2 and 1 (fp32 [4, 3] and fp32 [3]); reshape and expand one as the other [TC101 BroadcastMismatch]}}
  %0 = "tiny.min"(%x, %y) : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Different symbols are different extents.
func.func @f(%x: tensor<?xf32, #tiny.dims<["M"]>>, %y: tensor<?xf32, #tiny.dims<["N"]>>) {
  // expected-error @below {{'tiny.add' axis 0 has extent M on the left and N on the right}}
  %0 = "tiny.add"(%x, %y) : (tensor<?xf32, #tiny.dims<["M"]>>, tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
  return
}

// -----

// 001 §3, rule 2: no implicit cast.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf16>) {
  // expected-error @below {{'tiny.mul' the operands are fp32 and fp16; cast one of them [TC102 DtypeMismatch]}}
  %0 = "tiny.mul"(%x, %y) : (tensor<4xf32>, tensor<4xf16>) -> tensor<4xf32>
  return
}

// -----

// A comparison gives bool.
func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{'tiny.cmp_lt' has the result type tensor<4xf32>; its operands give tensor<4xi1>}}
  %0 = "tiny.cmp_lt"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A comparison wants equal types.
func.func @f(%x: tensor<4xi32>, %y: tensor<4xi64>) {
  // expected-error @below {{'tiny.cmp_eq' the operands are i32 and i64; cast one of them [TC102 DtypeMismatch]}}
  %0 = "tiny.cmp_eq"(%x, %y) : (tensor<4xi32>, tensor<4xi64>) -> tensor<4xi1>
  return
}

// -----

// The condition is bool.
func.func @f(%c: tensor<4xi8>, %x: tensor<4xf32>) {
  // expected-error @below {{'tiny.where' the condition is i8, not bool; cast it [TC102 DtypeMismatch]}}
  %0 = "tiny.where"(%c, %x, %x) : (tensor<4xi8>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// The condition has the shape of the values.
func.func @f(%c: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{'tiny.where' axis 0 has extent 1 on the left and 4 on the right}}
  %0 = "tiny.where"(%c, %x, %x) : (tensor<1xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Both values have one type.
func.func @f(%c: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @below {{'tiny.where' the operands are fp32 and i32; cast one of them [TC102 DtypeMismatch]}}
  %0 = "tiny.where"(%c, %x, %y) : (tensor<4xi1>, tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}
