// What contractions refuse.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

func.func @f(%a: tensor<3x4xf32>, %b: tensor<5x6xf32>) {
  // expected-error @below {{axis 1 of fp32 [3, 4] and axis 0 of fp32 [5, 6] must be equal; they are 4 and 5}}
  %0 = "frontend.matmul"(%a, %b) : (tensor<3x4xf32>, tensor<5x6xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3x4xf32>, %b: tensor<4x6xf32>) {
  // expected-error @below {{gemm takes two matrices, not fp32 [2, 3, 4] and fp32 [4, 6]}}
  %0 = "frontend.gemm"(%a, %b) : (tensor<2x3x4xf32>, tensor<4x6xf32>) -> tensor<2x3x6xf32>
  return
}

// -----

func.func @f(%a: tensor<3x4xf32>) {
  // expected-error @below {{the equation 'ij,jk->ik' has 2 terms for 1 operands}}
  %0 = "frontend.einsum"(%a) {equation = "ij,jk->ik"} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return
}
