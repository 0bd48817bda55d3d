// What attention and rotary embedding refuse.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

func.func @f(%q: tensor<2x3x3x8xf16>, %k: tensor<2x2x5x8xf16>) {
  // expected-error @below {{the 3 heads of q are no multiple of the 2 of k and v}}
  %0:4 = "frontend.attention"(%q, %k, %k) {operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0>} : (tensor<2x3x3x8xf16>, tensor<2x2x5x8xf16>, tensor<2x2x5x8xf16>) -> (tensor<2x3x3x8xf16>, tensor<2x2x5x8xf16>, tensor<2x2x5x8xf16>, tensor<2x3x3x5xf16>)
  return
}

// -----

func.func @f(%x: tensor<2x4x3x7xf32>, %a: tensor<2x3x4xf32>) {
  // expected-error @below {{depth is 7; it is even, and at most the 7 of fp32 [2, 4, 3, 7]}}
  %0 = "frontend.rotary_embedding"(%x, %a, %a) : (tensor<2x4x3x7xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x4x3x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x4x6xf32>) {
  // expected-error @below {{the rule 'delta' takes a beta}}
  %0:2 = "frontend.linear_attention"(%x, %x, %x) {heads = 2 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, rule = "delta"} : (tensor<2x4x6xf32>, tensor<2x4x6xf32>, tensor<2x4x6xf32>) -> (tensor<2x4x6xf32>, tensor<2x2x3x3xf32>)
  return
}
