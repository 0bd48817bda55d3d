// The leaves survive printing and parsing; the result type tells their shape.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @const
func.func @const() {
  // CHECK: "tiny.const"() {value = 5.000000e-01 : f16} : () -> tensor<4x3xf16>
  %0 = "tiny.const"() {value = 0.5 : f16} : () -> tensor<4x3xf16>
  // CHECK: "tiny.const"() {value = 0xFF800000 : f32} : () -> tensor<f32>
  %1 = "tiny.const"() {value = 0xFF800000 : f32} : () -> tensor<f32>
  // CHECK: "tiny.const"() {value = 18446744073709551615 : ui64} : () -> tensor<ui64>
  %2 = "tiny.const"() {value = 18446744073709551615 : ui64} : () -> tensor<ui64>
  // CHECK: "tiny.const"() {value = -128 : i8} : () -> tensor<i8>
  %3 = "tiny.const"() {value = -128 : i8} : () -> tensor<i8>
  // CHECK: "tiny.const"() {value = true} : () -> tensor<2xi1>
  %4 = "tiny.const"() {value = true} : () -> tensor<2xi1>
  return
}

// CHECK-LABEL: func.func @iota
func.func @iota() -> tensor<4x3xi32> {
  // CHECK: "tiny.iota"() {axis = 1 : i64} : () -> tensor<4x3xi32>
  %0 = "tiny.iota"() {axis = 1 : i64} : () -> tensor<4x3xi32>
  return %0 : tensor<4x3xi32>
}

// 127 is the greatest index of 128 elements.
// CHECK-LABEL: func.func @iota_that_just_fits
func.func @iota_that_just_fits() -> tensor<128xi8> {
  // CHECK: "tiny.iota"() {axis = 0 : i64} : () -> tensor<128xi8>
  %0 = "tiny.iota"() {axis = 0 : i64} : () -> tensor<128xi8>
  return %0 : tensor<128xi8>
}

// CHECK-LABEL: func.func @rand
func.func @rand() {
  // CHECK: "tiny.rand"() {distribution = "uniform", seed = 7 : i64, stream = 0 : i64} : () -> tensor<4xf32>
  %0 = "tiny.rand"() {distribution = "uniform", seed = 7 : i64, stream = 0 : i64} : () -> tensor<4xf32>
  // CHECK: "tiny.rand"() {distribution = "normal", seed = -1 : i64, stream = 3 : i64} : () -> tensor<4xbf16>
  %1 = "tiny.rand"() {distribution = "normal", seed = -1 : i64, stream = 3 : i64} : () -> tensor<4xbf16>
  return
}
