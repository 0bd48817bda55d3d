// A pipeline mixes passes of tinyc's with MLIR's, nested ones included; the outer builtin.module may be left out.
// RUN: %sample-opt --pass-pipeline="builtin.module(sample-rename{prefix=a_},func.func(cse),sample-rename)" %s | filecheck %s
// RUN: %sample-opt --pass-pipeline="sample-rename{prefix=a_}, func.func( cse ), sample-rename" %s | filecheck %s

// CHECK: func.func @new_a_f()
// CHECK: arith.constant
// CHECK-NOT: arith.constant
func.func @f() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  return %0, %1 : i32, i32
}
