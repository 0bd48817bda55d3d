// A reproducer is the input with the passes behind it; running it does what the passes do.
// RUN: tinyc-opt --cse --canonicalize="max-iterations=3" --mlir-generate-reproducer=%t.mlir %s -o %t.ignored
// RUN: filecheck %s < %t.mlir
// RUN: tinyc-opt --run-reproducer %t.mlir | filecheck %s --check-prefix=AGAIN
// What was given to a pass that failed fails again, at the same place.
// RUN: rm -f %t.failed.mlir
// RUN: not %sample-opt --cse --sample-refuse %s --mlir-generate-reproducer=%t.failed.mlir 2>&1 | filecheck %s --check-prefix=FAILED
// RUN: not %sample-opt --run-reproducer %t.failed.mlir 2>&1 | filecheck %s --check-prefix=FAILED
// A reproducer says whether to verify between passes.
// RUN: %sample-opt --sample-break --verify-each=false --mlir-generate-reproducer=%t.unverified.mlir %s -o %t.ignored
// RUN: %sample-opt --run-reproducer %t.unverified.mlir -o %t.ignored
// It runs alone, and what is not a reproducer is refused.
// RUN: not tinyc-opt --run-reproducer --cse %t.mlir 2>&1 | filecheck %s --check-prefix=MIXED
// RUN: not tinyc-opt --run-reproducer %s 2>&1 | filecheck %s --check-prefix=NONE

// CHECK-COUNT-2: arith.constant 1
// CHECK: mlir_reproducer: {
// CHECK-NEXT: pipeline: "builtin.module(cse,canonicalize{{.*}}max-iterations=3 {{.*}})",
// CHECK-NEXT: disable_threading: true,
// CHECK-NEXT: verify_each: true

// AGAIN: arith.constant 1
// AGAIN-NOT: arith.constant

// FAILED-NOT: warning
// FAILED: reproducer.mlir:[[# @LINE + 5]]:1: error: refuse f [TC109 NonScop]

// MIXED: error: --run-reproducer takes the passes from the input; leave all other passes out [TC315 InvalidOption]
// NONE: reproducer.mlir: error: the input is not a reproducer: it has no resource 'mlir_reproducer' with a pipeline

func.func @f() -> (i32, i32) {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 1 : i32
  return %0, %1 : i32, i32
}
