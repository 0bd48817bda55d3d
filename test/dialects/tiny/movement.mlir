// Every movement op survives printing and parsing with its attributes.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK: #[[WINDOW:.*]] = affine_map<(d0, d1) -> (d0 * 2 + d1)>

// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: tensor<4x6xf32>) -> tensor<2x12x1xf32> {
  // CHECK: "tiny.reshape"(%{{.*}}) : (tensor<4x6xf32>) -> tensor<2x12x1xf32>
  %0 = "tiny.reshape"(%x) : (tensor<4x6xf32>) -> tensor<2x12x1xf32>
  return %0 : tensor<2x12x1xf32>
}

// CHECK-LABEL: func.func @permute
func.func @permute(%x: tensor<2x3x5xf32>) -> tensor<5x2x3xf32> {
  // CHECK: "tiny.permute"(%{{.*}}) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  %0 = "tiny.permute"(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  return %0 : tensor<5x2x3xf32>
}

// A new axis comes in front, and an axis of extent 1 is repeated.
// CHECK-LABEL: func.func @expand
func.func @expand(%x: tensor<4x1xf32>) -> tensor<2x4x3xf32> {
  // CHECK: "tiny.expand"(%{{.*}}) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<4x1xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @expand_scalar
func.func @expand_scalar(%x: tensor<f32>) -> tensor<4xf32> {
  // CHECK: "tiny.expand"(%{{.*}}) {broadcast_dimensions = array<i64>}
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @pad
func.func @pad(%x: tensor<4x3xf32>) -> tensor<4x6xf32> {
  // CHECK: "tiny.pad"(%{{.*}}) {hi = array<i64: 0, 2>, lo = array<i64: 0, 1>, value = -1.500000e+00 : f32}
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 1>, hi = array<i64: 0, 2>, value = -1.5 : f32} : (tensor<4x3xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @shrink
func.func @shrink(%x: tensor<4x10xf32>) -> tensor<4x3xf32> {
  // CHECK: "tiny.shrink"(%{{.*}}) {hi = [4, 9], lo = [0, 2], step = array<i64: 1, 3>}
  %0 = "tiny.shrink"(%x) {lo = [0, 2], hi = [4, 9], step = array<i64: 1, 3>} : (tensor<4x10xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @shrink_to_nothing
func.func @shrink_to_nothing(%x: tensor<4xf32>) -> tensor<0xf32> {
  // CHECK: "tiny.shrink"(%{{.*}}) {hi = [2], lo = [2], step = array<i64: 1>}
  %0 = "tiny.shrink"(%x) {lo = [2], hi = [2], step = array<i64: 1>} : (tensor<4xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}

// CHECK-LABEL: func.func @flip
func.func @flip(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  // CHECK: "tiny.flip"(%{{.*}}) {axes = array<i64: 0, 2>}
  %0 = "tiny.flip"(%x) {axes = array<i64: 0, 2>} : (tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// A 3-wide window over an axis of 6, the kernel's axis last.
// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<2x6xf32>) -> tensor<2x2x3xf32> {
  // CHECK: "tiny.pool"(%{{.*}}) {dilation = array<i64: 2>, kernel = array<i64: 3>, stride = array<i64: 1>}
  %0 = "tiny.pool"(%x) {kernel = array<i64: 3>, stride = array<i64: 1>, dilation = array<i64: 2>} : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  return %0 : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @view
func.func @view(%x: tensor<9xf32>) -> tensor<4x3xf32> {
  // CHECK: "tiny.view"(%{{.*}}) {map = #[[WINDOW]]} : (tensor<9xf32>) -> tensor<4x3xf32>
  %0 = "tiny.view"(%x) {map = affine_map<(d0, d1) -> (d0 * 2 + d1)>} : (tensor<9xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}
