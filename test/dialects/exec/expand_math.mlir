// RUN: tinyc-opt --stock-printing --exec-expand-math --split-input-file %s | filecheck %s

// A function becomes a call of arithmetic, which stands in the module once for each type, however often it is used.
// CHECK-LABEL: func.func @powers(
// CHECK: %[[ONE:.*]] = call @exp2.f32(%arg0) : (f32) -> f32
// CHECK: %[[TWO:.*]] = call @exp2.f32(%[[ONE]]) : (f32) -> f32
// CHECK: call @exp2.f64(
// CHECK: func.func private @exp2.f32(%{{.*}}: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["alwaysinline"]}
// CHECK: math.fma
// CHECK: func.func private @exp2.f64(
// CHECK-NOT: func.func
// CHECK-NOT: math.exp2
func.func @powers(%x: f32) -> f64 {
  %0 = math.exp2 %x : f32
  %1 = math.exp2 %0 : f32
  %2 = arith.extf %1 : f32 to f64
  %3 = math.exp2 %2 : f64
  return %3 : f64
}

// -----

// What a CPU has an instruction for stays, and what is of another type.
// CHECK-LABEL: func.func @others(
// CHECK: math.sqrt
// CHECK: math.floor
// CHECK: math.exp2 %{{.*}} : f16
// CHECK-NOT: func.func
func.func @others(%x: f32, %h: f16) -> (f32, f16) {
  %0 = math.sqrt %x : f32
  %1 = math.floor %0 : f32
  %2 = math.exp2 %h : f16
  return %1, %2 : f32, f16
}
