// What each pass was given and what it left stands in numbers in mlir-opt's list, on stderr.
// RUN: %sample-opt --sample-rename --cse --mlir-pass-statistics %s 2>&1 >/dev/null | filecheck %s
// RUN: tinyc-opt --cse %s 2>&1 >/dev/null | filecheck %s --check-prefix=NOTHING --allow-empty

// CHECK: ... Pass statistics report ...
// CHECK: SampleRename
// CHECK-NEXT: (S) 4 num-ops-before - Number of operations before the pass
// CHECK-NEXT: (S) 4 num-ops-after - Number of operations after the pass
// CHECK-NEXT: (S) 1 num-functions-after - Number of functions and kernels after the pass
// CHECK-NEXT: cse
// CHECK-NEXT: (S) 4 num-ops-before
// CHECK-NEXT: (S) 3 num-ops-after
// NOTHING-NOT: {{.}}
func.func @f() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  return %0, %1 : i32, i32
}
