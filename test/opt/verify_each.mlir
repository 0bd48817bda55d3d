// A pass that leaves a module that does not verify is caught at once, and the error names it and a reproducer.
// RUN: not %sample-opt --sample-break --canonicalize %s 2>&1 | filecheck %s
// Without checks between passes nobody looks.
// RUN: %sample-opt --sample-break --verify-each=false %s | filecheck %s --check-prefix=UNSEEN

// CHECK: error: pass 'sample-break' failed: the IR that it made does not verify
// CHECK-SAME: redefinition of symbol named 'same'
// CHECK-SAME: to repeat it: tinyc-opt --run-reproducer {{.*}}.mlir
// CHECK-SAME: [TC901 InternalError]

// UNSEEN-COUNT-2: sym_name = "same"
func.func @f() {
  return
}
func.func @g() {
  return
}
