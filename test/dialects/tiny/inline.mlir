// --tiny-inline: functions that call each other become the one function that the program is.
// RUN: tinyc-opt --tiny-inline --split-input-file --verify-diagnostics --stock-printing %s | filecheck %s
// RUN: tinyc-opt --tiny-inline --split-input-file --verify-diagnostics --mlir-print-debuginfo --stock-printing %s | filecheck --check-prefix=LOC %s

// A function is called twice, once through another one; symbols mean the same in all, and ops keep their locations.
// CHECK-NOT: @minus
// CHECK: func.func @main(%[[X:.*]]: tensor<{{.*}}>, %[[W:.*]]: tensor<{{.*}}>) -> {{.*}} {
// CHECK-NEXT: %[[A:.*]] = "tiny.neg"(%[[X]])
// CHECK-NEXT: %[[B:.*]] = "tiny.add"(%[[A]], %[[W]])
// CHECK-NEXT: %[[C:.*]] = "tiny.neg"(%[[B]])
// CHECK-NEXT: return %[[B]], %[[C]]
// CHECK-NOT: @minus
// LOC: "tiny.neg"{{.*}} loc(#[[NEG:.*]])
// LOC: "tiny.neg"{{.*}} loc(#[[NEG]])
!v = tensor<?xf32, #tiny.dims<["N"]>>
func.func private @minus(%x: !v) -> !v {
  %negated = "tiny.neg"(%x) : (!v) -> !v
  return %negated : !v
}
func.func @main(%x: !v, %w: !v) -> (!v, !v) {
  %first = call @layer(%x, %w) : (!v, !v) -> !v
  %second = call @minus(%first) : (!v) -> !v
  return %first, %second : !v, !v
}
func.func private @layer(%x: !v, %w: !v) -> !v {
  %0 = call @minus(%x) : (!v) -> !v
  %1 = "tiny.add"(%0, %w) : (!v, !v) -> !v
  return %1 : !v
}

// -----

// The program is the one function that no other calls, whatever its name; what it returns may be what it was given.
// CHECK-LABEL: func.func @program(
// CHECK-NEXT: return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>
func.func @swapped(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %y, %x : tensor<4xf32>, tensor<4xf32>
}
func.func @program(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @swapped(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A function without calls stays as it is.
// CHECK-LABEL: func.func @alone(
// CHECK-NEXT: "tiny.neg"
func.func @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// What nobody calls is left out, with what only it calls.
// CHECK-NOT: @unused
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: return
// CHECK-NOT: @used
func.func @unused(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @used_by_it(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @used_by_it(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
