// Pass flags run in the order given: CSE merges the constants only once they are equal.
// RUN: tinyc-opt --canonicalize --cse --dump-pass-pipeline %s 2>&1 >/dev/null | filecheck %s --check-prefix=ORDER
// RUN: tinyc-opt --cse %s | filecheck %s
// A single dash does as well as two.
// RUN: tinyc-opt -cse %s | filecheck %s
// Without passes nothing is merged.
// RUN: tinyc-opt %s | filecheck %s --check-prefix=AS-IS

// ORDER: builtin.module(canonicalize{{.*}},cse)

// CHECK: arith.constant
// CHECK-NOT: arith.constant
// AS-IS-COUNT-2: arith.constant
func.func @f() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  return %0, %1 : i32, i32
}
