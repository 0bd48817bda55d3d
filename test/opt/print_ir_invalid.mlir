// A pass to print around must exist, as a pass to run.
// RUN: not tinyc-opt --mlir-print-ir-after=nopass %s 2>&1 | filecheck %s --check-prefix=AFTER
// RUN: not tinyc-opt --mlir-print-ir-before=cse,regin-to-exec %s 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: not tinyc-opt "--mlir-print-ir-after=cse(" %s 2>&1 | filecheck %s --check-prefix=TEXT

// A pass that needs another op than the module, or that does not run at all, is no mistake.
// RUN: tinyc-opt --mlir-print-ir-after=tiny-to-region,convert-scf-to-cf,llvm-optimize-for-nvvm-target %s 2>&1 | filecheck %s

// AFTER: error: --mlir-print-ir-after: there is no pass 'nopass' [TC310 UnknownPass]
// BEFORE: error: --mlir-print-ir-before: there is no pass 'regin-to-exec'; did you mean 'region-to-exec'
// TEXT: there is no pass 'cse('
// CHECK: func.func @f()
func.func @f() {
  return
}
