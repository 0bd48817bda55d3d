// --frontend-to-tiny writes each op as the Tiny ops of its formula.
// RUN: tinyc-opt %s --frontend-to-tiny --split-input-file | filecheck %s

// A function of 16-bit floats is computed in f32 and rounded once; the result keeps the op's name.
// CHECK-LABEL: @silu
// CHECK: %[[X:.*]] = "tiny.cast"(%x)
// CHECK: "tiny.exp2"
// CHECK: "tiny.recip"
// CHECK: %[[Y:.*]] = "tiny.mul"(%[[X]], {{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: %y = "tiny.cast"(%[[Y]]) : (tensor<4xf32>) -> tensor<4xf16>
func.func @silu(%x: tensor<4xf16>) -> tensor<4xf16> {
  %y = "frontend.elementwise"(%x) {fn = "silu"} : (tensor<4xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// -----

// What a formula relies on stands in front: two symbolic extents of a product are assumed to be equal.
// CHECK-LABEL: @assumes
// CHECK-NEXT: "tiny.assume"() {lhs = "K", predicate = "eq", rhs = "L"}
// CHECK: "tiny.reduce"({{.*}}) {axes = array<i64: 2>, op = "sum"}
func.func @assumes(
    %x: tensor<?x?xf32, #tiny.dims<["M", "K"]>>, %w: tensor<?x3xf32, #tiny.dims<["L", 3]>>)
    -> tensor<?x3xf32, #tiny.dims<["M", 3]>> {
  %y = "frontend.matmul"(%x, %w) : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>, tensor<?x3xf32, #tiny.dims<["L", 3]>>)
    -> tensor<?x3xf32, #tiny.dims<["M", 3]>>
  return %y : tensor<?x3xf32, #tiny.dims<["M", 3]>>
}

// -----

// Tiny ops beside Frontend ops stay as they are.
// CHECK-LABEL: @keeps
// CHECK-NEXT: %c = "tiny.const"() {value = 2.000000e+00 : f32} : () -> tensor<f32>
// CHECK-NOT: frontend
func.func @keeps(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = "tiny.const"() {value = 2.0 : f32} : () -> tensor<f32>
  %y = "frontend.elementwise"(%x, %c) {fn = "mul"} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
