// Convolutions and folds survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<1x4x7x9xf16>, %w: tensor<6x2x3x3xf16>, %b: tensor<6xf16>, %t: tensor<4x3x3x3xf16>, %c: tensor<2x12x6xf32>) {
  // CHECK: "frontend.conv"(%{{.*}}, %{{.*}}, %{{.*}}) {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>}
  %0 = "frontend.conv"(%x, %w, %b) {groups = 2 : i64, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x4x7x9xf16>, tensor<6x2x3x3xf16>, tensor<6xf16>) -> tensor<1x6x7x9xf16>
  // CHECK: "frontend.conv_transpose"(%{{.*}}, %{{.*}}) {strides = array<i64: 2, 1>}
  %1 = "frontend.conv_transpose"(%x, %t) {strides = array<i64: 2, 1>} : (tensor<1x4x7x9xf16>, tensor<4x3x3x3xf16>) -> tensor<1x3x15x11xf16>
  // CHECK: "frontend.fold"(%{{.*}}) {kernel = array<i64: 2, 2>, shape = array<i64: 3, 4>}
  %2 = "frontend.fold"(%c) {kernel = array<i64: 2, 2>, shape = array<i64: 3, 4>} : (tensor<2x12x6xf32>) -> tensor<2x3x3x4xf32>
  return
}
