// What does not hold of a Tiny function as a whole.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// Two inputs of one name.
// expected-error @below {{argument 1: tiny.name "x" must be a distinct, non-empty string}}
func.func @f(%x: tensor<4xf32> {tiny.name = "x"}, %y: tensor<4xf32> {tiny.name = "x"}) {
  %0 = "tiny.add"(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Two outputs of one name.
// expected-error @below {{result 1: tiny.name "y" must be a distinct, non-empty string}}
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32> {tiny.name = "y"}, tensor<4xf32> {tiny.name = "y"}) {
  %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A name that is empty.
// expected-error @below {{argument 0: tiny.name "" must be a distinct, non-empty string}}
func.func @f(%x: tensor<4xf32> {tiny.name = ""}) {
  %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// A name that is no text.
// expected-error @below {{argument 0: tiny.name 3 : i64 must be a distinct, non-empty string}}
func.func @f(%x: tensor<4xf32> {tiny.name = 3 : i64}) {
  %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// An input that no op has looked at.
// expected-error @below {{argument 0: tensor<?xf32> has unnamed extents; name them with #tiny.dims<["M", …]> [TC114 InvalidExtent]}}
func.func @f(%x: tensor<?xf32> {tiny.name = "x"}) {
  %0 = "tiny.const"() {value = 0.0 : f32} : () -> tensor<4xf32>
  return
}

// -----

// Control flow.
// expected-error @below {{function @f must be a single block: Tiny has no control flow}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  cf.br ^bb1
^bb1:
  return %0 : tensor<4xf32>
}
