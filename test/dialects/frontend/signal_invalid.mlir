// Ops of this family whose results are not those of their formula.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// cosine_window has the results of its formula.
func.func @main() {
  // expected-error @below {{'frontend.cosine_window' has the result types tensor<77xi64>; its operands give tensor<8xf32>}}
  %0 = "frontend.cosine_window"() {coefficients = array<f64: 5.000000e-01, 5.000000e-01>, element = f32, shape = [8]} : () -> tensor<77xi64>
  return
}

// -----

// triangular_filters has the results of its formula.
func.func @main(%arg0: tensor<5xi64> {tiny.name = "edges"}) {
  // expected-error @below {{'frontend.triangular_filters' has the result types tensor<77xi64>; its operands give tensor<9x3xf32>}}
  %0 = "frontend.triangular_filters"(%arg0) {bins = 9 : i64, element = f32} : (tensor<5xi64>) -> tensor<77xi64>
  return
}

// -----

// dft has the results of its formula.
func.func @main(%arg0: tensor<2x6x1xf32> {tiny.name = "x"}) {
  // expected-error @below {{'frontend.dft' has the result types tensor<77xi64>; its operands give tensor<2x4x2xf32>}}
  %0 = "frontend.dft"(%arg0) {axis = 1 : i64, onesided = true} : (tensor<2x6x1xf32>) -> tensor<77xi64>
  return
}

// -----

// stft has the results of its formula.
func.func @main(%arg0: tensor<2x20x1xf32> {tiny.name = "x"}) {
  // expected-error @below {{'frontend.stft' has the result types tensor<77xi64>; its operands give tensor<2x7x5x2xf32>}}
  %0 = "frontend.stft"(%arg0) {frame_length = 8 : i64, frame_step = 2 : i64} : (tensor<2x20x1xf32>) -> tensor<77xi64>
  return
}
