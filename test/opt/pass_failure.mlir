// A pass that refuses its input says where; all refusals are reported together. There is nothing to repeat.
// RUN: not %sample-opt --sample-refuse %s 2>&1 | filecheck %s --check-prefix=REFUSED
// A pass with a defect gives a sentence and a file that repeats it, never a traceback.
// RUN: not %sample-opt --sample-fail %s 2>&1 | filecheck %s --check-prefix=DEFECT
// A pass that makes ops of a layer that it does not declare has a defect.
// RUN: not %sample-opt --sample-undeclared %s 2>&1 | filecheck %s --check-prefix=UNDECLARED
// A pass of MLIR's that cannot run says why, and leaves a file that repeats it.
// RUN: not tinyc-opt --affine-loop-unroll %s 2>&1 | filecheck %s --check-prefix=MLIR

// REFUSED: pass_failure.mlir:[[# @LINE + 10]]:1: error: refuse f [TC109 NonScop]
// REFUSED: pass_failure.mlir:[[# @LINE + 13]]:1: error: refuse g [TC109 NonScop]
// REFUSED-NOT: note:
// DEFECT-NOT: Traceback
// DEFECT: error: pass 'sample-fail' failed: ZeroDivisionError: one over nothing at func.return; to repeat it:
// DEFECT-SAME: tinyc-opt --run-reproducer {{.*}}tinyc-reproducer-{{.*}}.mlir
// DEFECT-SAME: [TC901 InternalError]
// UNDECLARED: error: pass 'sample-undeclared' failed: it made ops of tiny and does not declare them
// MLIR: error: unable to schedule pass 'AffineLoopUnroll'
// MLIR: note: to repeat it: tinyc-opt --run-reproducer {{.*}}tinyc-reproducer-{{.*}}.mlir
func.func @f() {
  return
}

func.func @g() {
  return
}
