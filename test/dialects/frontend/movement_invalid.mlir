// What movements refuse.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @below {{the step of axis 1 is 0; it must not be}}
  %0 = "frontend.movement"(%x) {hi = [4, 5], kind = "slice", lo = [1, 0], step = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @below {{there are 1 shifts for 2 axes; give one for each}}
  %0 = "frontend.movement"(%x) {axes = array<i64: 0, 1>, kind = "roll", shifts = array<i64: 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @below {{there are 1 repeats; fp32 [4, 6] has 2 axes}}
  %0 = "frontend.movement"(%x) {kind = "tile", repeats = [2]} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>) {
  // expected-error @below {{mode is 'mirror'; it is 'constant', 'edge', 'reflect' or 'wrap'}}
  %0 = "frontend.movement"(%x) {after = [0, 1], before = [1, 0], kind = "pad", mode = "mirror"} : (tensor<4x6xf32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<4xf32>) {
  // expected-error @below {{have no common rank; reshape one of them}}
  %0 = "frontend.concat"(%x, %y) {axis = 0 : i64} : (tensor<4x6xf32>, tensor<4xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4x6xf32>, %y: tensor<4x5xf32>) {
  // expected-error @below {{axis 1 of fp32 [4, 6] and axis 1 of fp32 [4, 5] must be equal; they are 6 and 5}}
  %0 = "frontend.concat"(%x, %y) {axis = 0 : i64} : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<8x6xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{triangles are of matrices}}
  %0 = "frontend.trilu"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%k: tensor<i64>) {
  // expected-error @below {{has the result types tensor<3xi64>; its operands give tensor<4xi64>}}
  %0 = "frontend.arange"(%k, %k) {shape = [4]} : (tensor<i64>, tensor<i64>) -> tensor<3xi64>
  return
}

// -----

func.func @f() {
  // expected-error @below {{needs the attribute 'shape'}}
  %0 = "frontend.eye"() {element = i8} : () -> tensor<3x3xi8>
  return
}

// -----

func.func @f() {
  // expected-error @below {{has the result types tensor<3xi64>; its operands give tensor<2xi64>}}
  %0 = "frontend.extents"() {dims = [3, "M"]} : () -> tensor<3xi64>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{has the result types tensor<4xf32>; its operands give tensor<4xf16>}}
  %0 = "frontend.cast"(%x) {element = f16} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
