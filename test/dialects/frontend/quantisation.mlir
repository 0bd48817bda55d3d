// Quantisation survives printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @quantize
func.func @quantize(%arg0: tensor<4x6xf32> {tiny.name = "x"}, %arg1: tensor<6xf32> {tiny.name = "scale"}, %arg2: tensor<6xi8> {tiny.name = "zero_point"}) -> tensor<4x6xi8> {
  // CHECK: "frontend.quantize"(%{{.*}}, %{{.*}}, %{{.*}}) {element = i8, precision = f32} : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xi8>) -> tensor<4x6xi8>
  %0 = "frontend.quantize"(%arg0, %arg1, %arg2) {element = i8, precision = f32} : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xi8>) -> tensor<4x6xi8>
  return %0 : tensor<4x6xi8>
}

// CHECK-LABEL: func.func @requantize
func.func @requantize(%arg0: tensor<4xi32> {tiny.name = "x"}, %arg1: tensor<f32> {tiny.name = "multiplier"}) -> tensor<4xui8> {
  // CHECK: "frontend.requantize"(%{{.*}}, %{{.*}}) {element = ui8} : (tensor<4xi32>, tensor<f32>) -> tensor<4xui8>
  %0 = "frontend.requantize"(%arg0, %arg1) {element = ui8} : (tensor<4xi32>, tensor<f32>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%arg0: tensor<4x6xi8> {tiny.name = "x"}, %arg1: tensor<4x3xf32> {tiny.name = "scale"}) -> tensor<4x6xf16> {
  // CHECK: "frontend.dequantize"(%{{.*}}, %{{.*}}) {block_size = 2 : i64, element = f16} : (tensor<4x6xi8>, tensor<4x3xf32>) -> tensor<4x6xf16>
  %0 = "frontend.dequantize"(%arg0, %arg1) {block_size = 2 : i64, element = f16} : (tensor<4x6xi8>, tensor<4x3xf32>) -> tensor<4x6xf16>
  return %0 : tensor<4x6xf16>
}

// CHECK-LABEL: func.func @dynamic_quantize
func.func @dynamic_quantize(%arg0: tensor<4x6xf32> {tiny.name = "x"}) -> (tensor<4x6xui8>, tensor<f32>, tensor<ui8>) {
  // CHECK: "frontend.dynamic_quantize"(%{{.*}}) : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<f32>, tensor<ui8>)
  %0:3 = "frontend.dynamic_quantize"(%arg0) : (tensor<4x6xf32>) -> (tensor<4x6xui8>, tensor<f32>, tensor<ui8>)
  return %0#0, %0#1, %0#2 : tensor<4x6xui8>, tensor<f32>, tensor<ui8>
}
