// Element-wise ops survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @one_operand
func.func @one_operand(%x: tensor<4x3xf16>, %n: tensor<?xi32, #tiny.dims<["N"]>>) {
  // CHECK: "frontend.elementwise"(%{{.*}}) {fn = "exp"} : (tensor<4x3xf16>) -> tensor<4x3xf16>
  %0 = "frontend.elementwise"(%x) {fn = "exp"} : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: {approximate = "tanh", fn = "gelu"}
  %1 = "frontend.elementwise"(%x) {approximate = "tanh", fn = "gelu"} : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: {detect_negative = false, fn = "is_inf"} : (tensor<4x3xf16>) -> tensor<4x3xi1>
  %2 = "frontend.elementwise"(%x) {detect_negative = false, fn = "is_inf"} : (tensor<4x3xf16>) -> tensor<4x3xi1>
  // CHECK: {exponent = 3.000000e+00 : f64, fn = "power"}
  %3 = "frontend.elementwise"(%n) {exponent = 3.0 : f64, fn = "power"} : (tensor<?xi32, #tiny.dims<["N"]>>) -> tensor<?xi32, #tiny.dims<["N"]>>
  // CHECK: "frontend.bitcast"(%{{.*}}) {element = f32}
  %4 = "frontend.bitcast"(%n) {element = f32} : (tensor<?xi32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["N"]>>
  return
}

// CHECK-LABEL: func.func @several_operands
func.func @several_operands(%x: tensor<4x3xf32>, %y: tensor<3xf32>, %n: tensor<4x1xi64>, %c: tensor<4x1xi1>) {
  // CHECK: "frontend.elementwise"(%{{.*}}, %{{.*}}) {fn = "modulo"} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %0 = "frontend.elementwise"(%x, %y) {fn = "modulo"} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: {fn = "pow"} : (tensor<4x3xf32>, tensor<4x1xi64>) -> tensor<4x3xf32>
  %1 = "frontend.elementwise"(%x, %n) {fn = "pow"} : (tensor<4x3xf32>, tensor<4x1xi64>) -> tensor<4x3xf32>
  // CHECK: "frontend.where"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<4x1xi1>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %2 = "frontend.where"(%c, %x, %y) : (tensor<4x1xi1>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  return
}
