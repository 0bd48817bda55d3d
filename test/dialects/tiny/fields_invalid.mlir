// Operands, results and attributes that are too many, missing, or of another kind than declared.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An operand too many.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.relu' has 2 operands; expected 1}}
  %0 = "tiny.relu"(%x, %x) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// An operand too few.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.add' has 1 operands; expected 2}}
  %0 = "tiny.add"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// No result.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.relu' has 0 results; expected 1}}
  "tiny.relu"(%x) : (tensor<4x3xf32>) -> ()
  return
}

// -----

// A region.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.relu' op unexpected number of regions: expected 0 but got 1}}
  %0 = "tiny.relu"(%x) ({}) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A missing attribute.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.permute' lacks the attribute 'perm'}}
  %0 = "tiny.permute"(%x) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A misspelt attribute.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.relu' has no attribute 'axis'; it has none}}
  %0 = "tiny.relu"(%x) {axis = 1 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A list of another kind.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.permute' attribute 'perm' is [0, 1]; it must be array<i64: …> [TC111 InvalidAttribute]}}
  %0 = "tiny.permute"(%x) {perm = [0, 1]} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A list of narrower integers.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.flip' attribute 'axes' is array<i32: 0>; it must be array<i64: …> [TC111 InvalidAttribute]}}
  %0 = "tiny.flip"(%x) {axes = array<i32: 0>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Numbers where extents may stand.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' attribute 'lo' is array<i64: 0, 0>; it must be [0, "M", …] [TC111 InvalidAttribute]}}
  %0 = "tiny.shrink"(%x) {lo = array<i64: 0, 0>, hi = [4, 3], step = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A number where text is due.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reduce' attribute 'op' is 3 : i64; it must be a string [TC111 InvalidAttribute]}}
  %0 = "tiny.reduce"(%x) {op = 3 : i64, axes = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32>
  return
}

// -----

// A truth value where a number is due.
func.func @f() {
  // expected-error @below {{'tiny.iota' attribute 'axis' is true; it must be an integer [TC111 InvalidAttribute]}}
  %0 = "tiny.iota"() {axis = true} : () -> tensor<3xf32>
  return
}

// -----

// A number where a truth value is due.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.topk' attribute 'largest' is 1 : i64; it must be true or false [TC111 InvalidAttribute]}}
  %0:2 = "tiny.topk"(%x) {axis = 0 : i64, k = 1 : i64, largest = 1 : i64} : (tensor<4xf32>) -> (tensor<1xf32>, tensor<1xi64>)
  return
}

// -----

// Text where a map is due.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.view' attribute 'map' is "i0, i1"; it must be affine_map<…> [TC111 InvalidAttribute]}}
  %0 = "tiny.view"(%x) {map = "i0, i1"} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// An op that Tiny does not have.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{unregistered operation 'tiny.matmul' found in dialect ('tiny') that does not allow unknown operations}}
  %0 = "tiny.matmul"(%x, %x) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
