// What convolutions and folds refuse.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

func.func @f(%x: tensor<1x4x7x7xf32>, %w: tensor<6x3x3x3xf32>) {
  // expected-error @below {{the channels of the image fp32 [1, 4, 7, 7] and those of the weights fp32 [6, 3, 3, 3] must be equal; they are 4 and 3}}
  %0 = "frontend.conv"(%x, %w) : (tensor<1x4x7x7xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x7x7xf32>, %w: tensor<6x4x3x3xf32>) {
  // expected-error @below {{layout is 'nwhc'; it is 'nchw' or 'nhwc'}}
  %0 = "frontend.conv"(%x, %w) {layout = "nwhc"} : (tensor<1x4x7x7xf32>, tensor<6x4x3x3xf32>) -> tensor<1x6x5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<1x4x7xf32>, %w: tensor<4x6x3x3xf32>) {
  // expected-error @below {{weights of its rank, not fp32 [1, 4, 7] and fp32 [4, 6, 3, 3]}}
  %0 = "frontend.conv_transpose"(%x, %w) : (tensor<1x4x7xf32>, tensor<4x6x3x3xf32>) -> tensor<1x6x9xf32>
  return
}

// -----

func.func @f(%x: tensor<2x12x6xf32>) {
  // expected-error @below {{a window of 5 elements does not fit axis 0 of [3, 4]}}
  %0 = "frontend.fold"(%x) {kernel = array<i64: 5, 2>, shape = array<i64: 3, 4>} : (tensor<2x12x6xf32>) -> tensor<2x3x3x4xf32>
  return
}
