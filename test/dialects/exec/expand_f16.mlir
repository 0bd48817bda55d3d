// RUN: tinyc-opt --stock-printing --exec-expand-f16 --split-input-file %s | filecheck %s

// Conversions of f16 become calls of integer code, which stands in the module once, however often it is used.
// CHECK-LABEL: func.func @add(
// CHECK: %[[BITS:.*]] = arith.bitcast %arg0 : f16 to i16
// CHECK: call @f16.to_f32(%[[BITS]])
// CHECK: call @f16.to_f32(
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK: %[[HALF:.*]] = call @f16.from_f32(%[[SUM]]) : (f32) -> i16
// CHECK: arith.bitcast %[[HALF]] : i16 to f16
// CHECK: func.func private @f16.from_f32(%{{.*}}: f32) -> i16
// CHECK-NOT: arith.extf
// CHECK: func.func private @f16.to_f32(%{{.*}}: i16) -> f32
// CHECK-NOT: func.func
func.func @add(%a: f16, %b: f16) -> f16 {
  %0 = arith.extf %a : f16 to f32
  %1 = arith.extf %b : f16 to f32
  %2 = arith.addf %0, %1 : f32
  %3 = arith.truncf %2 : f32 to f16
  return %3 : f16
}

// -----

// To f16 and back is a call of its own; what is stored is converted for that.
// CHECK-LABEL: func.func @rounded(
// CHECK-SAME: %[[X:.*]]: f32
// CHECK: %[[HALF:.*]] = call @f16.from_f32(%[[X]])
// CHECK: %[[STORED:.*]] = arith.bitcast %[[HALF]]
// CHECK: %[[ROUNDED:.*]] = call @f16.round(%[[X]]) : (f32) -> f32
// CHECK: return %[[STORED]], %[[ROUNDED]]
// CHECK: func.func private @f16.round(
func.func @rounded(%x: f32) -> (f16, f32) {
  %0 = arith.truncf %x : f32 to f16
  %1 = arith.extf %0 : f16 to f32
  return %0, %1 : f16, f32
}

// -----

// Other conversions stay: bf16 is for upstream's arith-expand, f64 needs no help.
// CHECK-LABEL: func.func @others(
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK-NOT: func.func
func.func @others(%a: bf16) -> f64 {
  %0 = arith.extf %a : bf16 to f32
  %1 = arith.extf %0 : f32 to f64
  return %1 : f64
}

// -----

// What a canonicalization has made of two conversions goes by way of f32, which rounds nothing twice.
// CHECK-LABEL: func.func @from_integers(
// CHECK: %[[SINGLE:.*]] = arith.sitofp %arg0 : i32 to f32
// CHECK: call @f16.from_f32(%[[SINGLE]])
// CHECK: %[[BYTE:.*]] = arith.uitofp %arg1 : i8 to f32
// CHECK: arith.truncf %[[BYTE]] : f32 to bf16
func.func @from_integers(%x: i32, %u: i8) -> (f16, bf16) {
  %0 = arith.sitofp %x : i32 to f16
  %1 = arith.uitofp %u : i8 to bf16
  return %0, %1 : f16, bf16
}

// -----

// f32 rounds an i32, and bf16 would round it again: that is left as it is.
// CHECK-LABEL: func.func @wide(
// CHECK: arith.sitofp %arg0 : i32 to bf16
func.func @wide(%x: i32) -> bf16 {
  %0 = arith.sitofp %x : i32 to bf16
  return %0 : bf16
}

// -----

// CHECK-LABEL: func.func @to_f64(
// CHECK: %[[HALF:.*]] = call @f16.to_f32(
// CHECK: arith.extf %[[HALF]] : f32 to f64
// CHECK: %[[SINGLE:.*]] = arith.extf %arg1 : bf16 to f32
// CHECK: arith.extf %[[SINGLE]] : f32 to f64
func.func @to_f64(%x: f16, %y: bf16) -> (f64, f64) {
  %0 = arith.extf %x : f16 to f64
  %1 = arith.extf %y : bf16 to f64
  return %0, %1 : f64, f64
}
