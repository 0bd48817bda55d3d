// Resizing, to extents that are symbols, too.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @nearest
func.func @nearest(%x: tensor<?x3x4xui8, #tiny.dims<["N", 3, 4]>>) -> tensor<?x6x8xui8, #tiny.dims<["N", 6, 8]>> {
  // CHECK: "frontend.resize"(%{{.*}}) {coordinates = "asymmetric", nearest = "floor", scales = array<f64: 1.000000e+00, 2.000000e+00, 2.000000e+00>, shape = ["N", 6, 8]}
  %0 = "frontend.resize"(%x) {coordinates = "asymmetric", nearest = "floor", scales = array<f64: 1.000000e+00, 2.000000e+00, 2.000000e+00>, shape = ["N", 6, 8]} : (tensor<?x3x4xui8, #tiny.dims<["N", 3, 4]>>) -> tensor<?x6x8xui8, #tiny.dims<["N", 6, 8]>>
  return %0 : tensor<?x6x8xui8, #tiny.dims<["N", 6, 8]>>
}

// CHECK-LABEL: func.func @linear
func.func @linear(%x: tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x8xf32, #tiny.dims<["2*N", 8]>> {
  // CHECK: "frontend.resize"(%{{.*}}) {mode = "linear", shape = ["2*N", 8]}
  %0 = "frontend.resize"(%x) {mode = "linear", shape = ["2*N", 8]} : (tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x8xf32, #tiny.dims<["2*N", 8]>>
  return %0 : tensor<?x8xf32, #tiny.dims<["2*N", 8]>>
}
