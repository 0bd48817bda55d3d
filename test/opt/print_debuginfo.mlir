// Locations are printed on demand only; they name the file, also where a file has several top-level ops.
// RUN: tinyc-opt --mlir-print-debuginfo %s | filecheck %s
// RUN: tinyc-opt %s | filecheck %s --check-prefix=WITHOUT

// CHECK-DAG: loc("{{.*}}print_debuginfo.mlir":[[# @LINE + 4]]:1)
// CHECK-DAG: loc("{{.*}}print_debuginfo.mlir":[[# @LINE + 6]]:1)
// CHECK-DAG: loc("named")
// WITHOUT-NOT: loc(
func.func @f() {
  return loc("named")
}
func.func @g() {
  return
}
