// Attention and rotary embedding survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x4x3x8xf16>, %k: tensor<2x2x5x8xf16>, %m: tensor<3x5xi1>, %a: tensor<2x3x4xf32>, %s: tensor<2x3x12xf32>, %t: tensor<2x3x6xf32>) {
  // CHECK: "frontend.attention"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>}
  %0:4 = "frontend.attention"(%q, %k, %k, %m) {causal = true, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0, 0>} : (tensor<2x4x3x8xf16>, tensor<2x2x5x8xf16>, tensor<2x2x5x8xf16>, tensor<3x5xi1>) -> (tensor<2x4x3x8xf16>, tensor<2x2x5x8xf16>, tensor<2x2x5x8xf16>, tensor<2x4x3x5xf16>)
  // CHECK: "frontend.rotary_embedding"(%{{.*}}, %{{.*}}, %{{.*}}) {interleaved = true}
  %1 = "frontend.rotary_embedding"(%q, %a, %a) {interleaved = true} : (tensor<2x4x3x8xf16>, tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x4x3x8xf16>
  // CHECK: "frontend.linear_attention"(%{{.*}}, %{{.*}}, %{{.*}}) {heads = 4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, rule = "linear"}
  %2:2 = "frontend.linear_attention"(%s, %t, %t) {heads = 4 : i64, kv_heads = 2 : i64, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0>, rule = "linear"} : (tensor<2x3x12xf32>, tensor<2x3x6xf32>, tensor<2x3x6xf32>) -> (tensor<2x3x12xf32>, tensor<2x2x3x3xf32>)
  return
}
