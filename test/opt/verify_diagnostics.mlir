// Every expectation is met here, in each way to write one; then the exit status is 0, and nothing is reported.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s 2>&1 | filecheck %s --check-prefix=QUIET --allow-empty

// QUIET-NOT: error:
func.func @own_line() {
  retrn // expected-error {{custom op 'retrn' is unknown}}
}

// -----

func.func @next_line() {
  // expected-error @+1 {{is unknown}}
  retrn
}

// -----

func.func @line_before() {
  retrn
  // expected-error@-1 {{is unknown}}
}

// -----

func.func @line_above() {
  retrn
  // expected-error @above {{is unknown}}
}

// -----

// Expectations in a row are all about the line below them.
// expected-note @below {{see existing symbol definition here}}
func.func @twice() {
  return
}
// expected-error-re @below {{redefinition of {{[a-z]+}} named 'twice'}}
func.func @twice() {
  return
}
