// A pass that refuses its input says where; all refusals are reported together.
// RUN: not %sample-opt --sample-refuse %s 2>&1 | filecheck %s --check-prefix=REFUSED
// The last line is the command that repeats it.
// A pass with a defect gives a sentence and a file that repeats it, never a traceback.
// RUN: not %sample-opt --sample-fail %s 2>&1 | filecheck %s --check-prefix=DEFECT
// A pass that makes ops of a layer that it does not declare has a defect.
// RUN: not %sample-opt --sample-undeclared %s 2>&1 | filecheck %s --check-prefix=UNDECLARED
// A pass of MLIR's that cannot run says why.
// RUN: not tinyc-opt --affine-loop-unroll %s 2>&1 | filecheck %s --check-prefix=MLIR

// REFUSED: pass_failure.mlir:[[# @LINE + 9]]:1: error: refuse f [TC109 NonScop]
// REFUSED: pass_failure.mlir:[[# @LINE + 12]]:1: error: refuse g [TC109 NonScop]
// REFUSED: note: to repeat it: tinyc-opt --run-reproducer {{.*}}tinyc-reproducer-{{.*}}.mlir
// DEFECT-NOT: Traceback
// DEFECT: error: pass 'sample-fail' failed: ZeroDivisionError: one over nothing; to repeat it:
// DEFECT-SAME: tinyc-opt --run-reproducer {{.*}}tinyc-reproducer-{{.*}}.mlir
// DEFECT-SAME: [TC901 InternalError]
// UNDECLARED: error: pass 'sample-undeclared' failed: it made ops of tiny and does not declare them
// MLIR: error: unable to schedule pass 'AffineLoopUnroll'
func.func @f() {
  return
}

func.func @g() {
  return
}
