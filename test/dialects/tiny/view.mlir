// What a view's map may be: every operand element inside, divisions included.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @reshape_as_view
func.func @reshape_as_view(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  // CHECK: "tiny.view"
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>} : (tensor<3x4xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// d0 and d0 mod 4 are greatest at different places: their sum stays below 11, which only an exact maximum tells.
// CHECK-LABEL: func.func @exact_maximum
func.func @exact_maximum(%x: tensor<11xf32>) -> tensor<9xf32> {
  // CHECK: "tiny.view"
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 + d0 mod 4)>} : (tensor<11xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// A constant may be negative where the axes make up for it.
// CHECK-LABEL: func.func @negative_constant
func.func @negative_constant(%x: tensor<2xf32>) -> tensor<4xf32> {
  // CHECK: "tiny.view"
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> ((d0 + 8) floordiv 4 - 2)>} : (tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// No element is read where the result is empty, so no index can be outside.
// CHECK-LABEL: func.func @empty_result
func.func @empty_result(%x: tensor<2xf32>) -> tensor<0xf32> {
  // CHECK: "tiny.view"
  %0 = "tiny.view"(%x) {map = affine_map<(d0) -> (d0 + 100)>} : (tensor<2xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
