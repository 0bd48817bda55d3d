// Movements that name no axis, reach outside, or give another shape than the one that stands there.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// 001 §4: the number of elements stays.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reshape' cannot reshape [4, 3] (12 elements) to [5, 2] (10 elements); the number of elements must stay the same [TC103 AxisSizeMismatch]}}
  %0 = "tiny.reshape"(%x) : (tensor<4x3xf32>) -> tensor<5x2xf32>
  return
}

// -----

// A reshape keeps the element type.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.reshape' has the result type tensor<12xf16>; its operands give tensor<12xf32>}}
  %0 = "tiny.reshape"(%x) : (tensor<4x3xf32>) -> tensor<12xf16>
  return
}

// -----

// 001 §4: an axis twice.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.permute' perm [0, 0] is not a permutation of the 2 axes 0 … 1 of fp32 [4, 3] [TC104 InvalidPermutation]}}
  %0 = "tiny.permute"(%x) {perm = array<i64: 0, 0>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// 001 §4: an axis missing.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.permute' perm [0] is not a permutation of the 2 axes 0 … 1 of fp32 [4, 3] [TC104 InvalidPermutation]}}
  %0 = "tiny.permute"(%x) {perm = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<4xf32>
  return
}

// -----

// A negative axis is the importer's business.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.permute' perm [-1, 0] is not a permutation}}
  %0 = "tiny.permute"(%x) {perm = array<i64: -1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return
}

// -----

// The result follows the permutation.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.permute' has the result type tensor<4x3xf32>; its operands give tensor<3x4xf32>}}
  %0 = "tiny.permute"(%x) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// 001 §4: only an extent of 1 can be expanded.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.expand' cannot expand fp32 [4, 3] to [8, 3]: result axis 0 has extent 8 and the operand's is 4; only an extent of 1 can be expanded [TC101 BroadcastMismatch]}}
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<8x3xf32>
  return
}

// -----

// Each operand axis has its place.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.expand' broadcast_dimensions [0] must name, for each of the 2 axes of fp32 [4, 3], another axis of the result [4, 3] [TC110 InvalidAxis]}}
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Two operand axes cannot share a result axis.
func.func @f(%x: tensor<3x3xf32>) {
  // expected-error @below {{'tiny.expand' broadcast_dimensions [1, 1] must name}}
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 1, 1>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// A place beyond the result.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.expand' broadcast_dimensions [0, 2] must name}}
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Only shrink cuts.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pad' pad [[0, 0], [-1, 0]] is negative; slice it to cut [TC111 InvalidAttribute]}}
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, -1>, hi = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<4x3xf32>) -> tensor<4x2xf32>
  return
}

// -----

// An amount for each axis.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pad' pad has 1 entries for the 2 axes of fp32 [4, 3]; give one for each axis [TC111 InvalidAttribute]}}
  %0 = "tiny.pad"(%x) {lo = array<i64: 1>, hi = array<i64: 1>, value = 0.0 : f32} : (tensor<4x3xf32>) -> tensor<6x3xf32>
  return
}

// -----

// The value is of the tensor's element type.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pad' value 0 : i32 is of type i32; the elements are f32 [TC102 DtypeMismatch]}}
  %0 = "tiny.pad"(%x) {lo = array<i64: 1, 1>, hi = array<i64: 0, 0>, value = 0 : i32} : (tensor<4x3xf32>) -> tensor<5x4xf32>
  return
}

// -----

// The result counts both sides.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pad' has the result type tensor<5x3xf32>; its operands give tensor<6x3xf32>}}
  %0 = "tiny.pad"(%x) {lo = array<i64: 1, 0>, hi = array<i64: 1, 0>, value = 0.0 : f32} : (tensor<4x3xf32>) -> tensor<5x3xf32>
  return
}

// -----

// hi beyond the extent.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' the slice of axis 1 from 0 to 5 leaves the extent 3; 0 <= lo <= hi <= extent must hold (hi is exclusive) [TC113 IndexOutOfBounds]}}
  %0 = "tiny.shrink"(%x) {lo = [0, 0], hi = [4, 5], step = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<4x5xf32>
  return
}

// -----

// lo beyond hi.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' the slice of axis 0 from 3 to 2}}
  %0 = "tiny.shrink"(%x) {lo = [3, 0], hi = [2, 3], step = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<0x3xf32>
  return
}

// -----

// A negative lo.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' the slice of axis 0 from -1 to 2}}
  %0 = "tiny.shrink"(%x) {lo = [-1, 0], hi = [2, 3], step = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<3x3xf32>
  return
}

// -----

// The step goes forwards.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' the step -1 of axis 1 must be positive; flip the axis to go backwards [TC111 InvalidAttribute]}}
  %0 = "tiny.shrink"(%x) {lo = [0, 0], hi = [4, 3], step = array<i64: 1, -1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// Bounds for each axis.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' shrink has 1 entries for the 2 axes of fp32 [4, 3]; give one for each axis [TC111 InvalidAttribute]}}
  %0 = "tiny.shrink"(%x) {lo = [0], hi = [4], step = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A bound is an extent.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.shrink' 1.500000e+00 : f64 is not an extent; write an integer or text such as "M + 1" [TC114 InvalidExtent]}}
  %0 = "tiny.shrink"(%x) {lo = [0, 1.5], hi = [4, 3], step = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// An axis twice.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.flip' axes [1, 1] must be distinct axes of fp32 [4, 3], which has rank 2 [TC110 InvalidAxis]}}
  %0 = "tiny.flip"(%x) {axes = array<i64: 1, 1>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// An axis beyond the rank.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.flip' axes [2] must be distinct axes of fp32 [4, 3], which has rank 2 [TC110 InvalidAxis]}}
  %0 = "tiny.flip"(%x) {axes = array<i64: 2>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

// A window larger than its axis.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pool' the window of 4 elements is larger than axis 1 of extent 3; pad it first [TC112 WindowTooLarge]}}
  %0 = "tiny.pool"(%x) {kernel = array<i64: 2>, stride = array<i64: 1>, dilation = array<i64: 3>} : (tensor<4x3xf32>) -> tensor<4x0x2xf32>
  return
}

// -----

// As many strides as kernel sizes.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pool' there are 1 kernel, 2 stride and 1 dilation entries for fp32 [4, 3]; give the same number of each, at most one for each axis [TC111 InvalidAttribute]}}
  %0 = "tiny.pool"(%x) {kernel = array<i64: 2>, stride = array<i64: 1, 1>, dilation = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4x2x2xf32>
  return
}

// -----

// Windows over more axes than there are.
func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'tiny.pool' there are 2 kernel, 2 stride and 2 dilation entries for fp32 [4]}}
  %0 = "tiny.pool"(%x) {kernel = array<i64: 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<4xf32>) -> tensor<4x1xf32>
  return
}

// -----

// A stride of 0.
func.func @f(%x: tensor<4x3xf32>) {
  // expected-error @below {{'tiny.pool' kernel, stride and dilation must be positive [TC111 InvalidAttribute]}}
  %0 = "tiny.pool"(%x) {kernel = array<i64: 2>, stride = array<i64: 0>, dilation = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4x2x2xf32>
  return
}
