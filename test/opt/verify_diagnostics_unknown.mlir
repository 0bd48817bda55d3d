// A diagnostic without a place is expected at @unknown.
// RUN: not tinyc-opt --inline --verify-diagnostics %s 2>&1 | filecheck %s --check-prefix=PLACED
// RUN: tinyc-opt --affine-loop-unroll --verify-diagnostics %s

// PLACED: error: expected error "unable to schedule pass" was not produced
// expected-error @unknown {{unable to schedule pass}}
func.func @f() {
  return
}
