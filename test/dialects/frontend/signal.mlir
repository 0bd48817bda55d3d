// Windows and spectra survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @cosine_window
func.func @cosine_window() -> tensor<8xf32> {
  // CHECK: "frontend.cosine_window"() {coefficients = array<f64: 5.000000e-01, 5.000000e-01>, element = f32, shape = [8]} : () -> tensor<8xf32>
  %0 = "frontend.cosine_window"() {coefficients = array<f64: 5.000000e-01, 5.000000e-01>, element = f32, shape = [8]} : () -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CHECK-LABEL: func.func @triangular_filters
func.func @triangular_filters(%arg0: tensor<5xi64> {tiny.name = "edges"}) -> tensor<9x3xf32> {
  // CHECK: "frontend.triangular_filters"(%{{.*}}) {bins = 9 : i64, element = f32} : (tensor<5xi64>) -> tensor<9x3xf32>
  %0 = "frontend.triangular_filters"(%arg0) {bins = 9 : i64, element = f32} : (tensor<5xi64>) -> tensor<9x3xf32>
  return %0 : tensor<9x3xf32>
}

// CHECK-LABEL: func.func @dft
func.func @dft(%arg0: tensor<2x6x1xf32> {tiny.name = "x"}) -> tensor<2x4x2xf32> {
  // CHECK: "frontend.dft"(%{{.*}}) {axis = 1 : i64, onesided = true} : (tensor<2x6x1xf32>) -> tensor<2x4x2xf32>
  %0 = "frontend.dft"(%arg0) {axis = 1 : i64, onesided = true} : (tensor<2x6x1xf32>) -> tensor<2x4x2xf32>
  return %0 : tensor<2x4x2xf32>
}

// CHECK-LABEL: func.func @stft
func.func @stft(%arg0: tensor<2x20x1xf32> {tiny.name = "x"}) -> tensor<2x7x5x2xf32> {
  // CHECK: "frontend.stft"(%{{.*}}) {frame_length = 8 : i64, frame_step = 2 : i64} : (tensor<2x20x1xf32>) -> tensor<2x7x5x2xf32>
  %0 = "frontend.stft"(%arg0) {frame_length = 8 : i64, frame_step = 2 : i64} : (tensor<2x20x1xf32>) -> tensor<2x7x5x2xf32>
  return %0 : tensor<2x7x5x2xf32>
}
