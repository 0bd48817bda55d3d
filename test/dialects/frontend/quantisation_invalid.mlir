// Ops of this family whose results are not those of their formula.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// quantize has the results of its formula.
func.func @main(%arg0: tensor<4x6xf32> {tiny.name = "x"}, %arg1: tensor<6xf32> {tiny.name = "scale"}, %arg2: tensor<6xi8> {tiny.name = "zero_point"}) {
  // expected-error @below {{'frontend.quantize' has the result types tensor<77xi64>; its operands give tensor<4x6xi8>}}
  %0 = "frontend.quantize"(%arg0, %arg1, %arg2) {element = i8, precision = f32} : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xi8>) -> tensor<77xi64>
  return
}

// -----

// requantize has the results of its formula.
func.func @main(%arg0: tensor<4xi32> {tiny.name = "x"}, %arg1: tensor<f32> {tiny.name = "multiplier"}) {
  // expected-error @below {{'frontend.requantize' has the result types tensor<77xi64>; its operands give tensor<4xui8>}}
  %0 = "frontend.requantize"(%arg0, %arg1) {element = ui8} : (tensor<4xi32>, tensor<f32>) -> tensor<77xi64>
  return
}

// -----

// dequantize has the results of its formula.
func.func @main(%arg0: tensor<4x6xi8> {tiny.name = "x"}, %arg1: tensor<4x3xf32> {tiny.name = "scale"}) {
  // expected-error @below {{'frontend.dequantize' has the result types tensor<77xi64>; its operands give tensor<4x6xf16>}}
  %0 = "frontend.dequantize"(%arg0, %arg1) {block_size = 2 : i64, element = f16} : (tensor<4x6xi8>, tensor<4x3xf32>) -> tensor<77xi64>
  return
}

// -----

// dynamic_quantize has the results of its formula.
func.func @main(%arg0: tensor<4x6xf32> {tiny.name = "x"}) {
  // expected-error @below {{'frontend.dynamic_quantize' has the result types tensor<77xi64>, tensor<f32>, tensor<ui8>; its operands give tensor<4x6xui8>, tensor<f32>, tensor<ui8>}}
  %0:3 = "frontend.dynamic_quantize"(%arg0) : (tensor<4x6xf32>) -> (tensor<77xi64>, tensor<f32>, tensor<ui8>)
  return
}
