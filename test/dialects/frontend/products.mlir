// Contractions survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @products
func.func @products(%a: tensor<2x3x4xf16>, %b: tensor<4x5xf16>, %m: tensor<3x4xf32>, %w: tensor<5x4xf32>, %c: tensor<5xf32>) {
  // CHECK: "frontend.matmul"(%{{.*}}, %{{.*}}) : (tensor<2x3x4xf16>, tensor<4x5xf16>) -> tensor<2x3x5xf16>
  %0 = "frontend.matmul"(%a, %b) : (tensor<2x3x4xf16>, tensor<4x5xf16>) -> tensor<2x3x5xf16>
  // CHECK: "frontend.gemm"(%{{.*}}, %{{.*}}, %{{.*}}) {alpha = 5.000000e-01 : f64, trans_b = true}
  %1 = "frontend.gemm"(%m, %w, %c) {alpha = 0.5 : f64, trans_b = true} : (tensor<3x4xf32>, tensor<5x4xf32>, tensor<5xf32>) -> tensor<3x5xf32>
  // CHECK: "frontend.einsum"(%{{.*}}, %{{.*}}) {equation = "...ij,jk->...ik"}
  %2 = "frontend.einsum"(%a, %b) {equation = "...ij,jk->...ik"} : (tensor<2x3x4xf16>, tensor<4x5xf16>) -> tensor<2x3x5xf16>
  return
}
