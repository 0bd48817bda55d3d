// An expectation that nothing meets is an error, and so is what nobody expected.
// RUN: not tinyc-opt --split-input-file --verify-diagnostics %s 2>&1 | filecheck %s

// CHECK: verify_diagnostics_invalid.mlir:[[# @LINE + 2]]:1: error: expected error "is unknown" was not produced
func.func @nothing() {
  // expected-error @+1 {{is unknown}}
  return
}

// -----

// CHECK: verify_diagnostics_invalid.mlir:[[# @LINE + 2]]:3: error: unexpected error: custom op 'retrn' is unknown
func.func @unexpected() {
  retrn
}

// -----

// CHECK: verify_diagnostics_invalid.mlir:[[# @LINE + 3]]:3: error: 'error' diagnostic emitted when expecting a 'warning'
func.func @severity() {
  // expected-warning @+1 {{is unknown}}
  retrn
}

// -----

// CHECK: verify_diagnostics_invalid.mlir:[[# @LINE + 4]]:3: error: unexpected error: custom op 'retrn' is unknown
// CHECK: verify_diagnostics_invalid.mlir:[[# @LINE + 1]]:1: error: expected error "another text" was not produced
// expected-error @+2 {{another text}}
func.func @text() {
  retrn
}

// -----

// CHECK: verify_diagnostics_invalid.mlir:[[# @LINE + 1]]:{{[0-9]+}}: error: invalid regular expression
// expected-error-re @+1 {{a {{[}} b}}
