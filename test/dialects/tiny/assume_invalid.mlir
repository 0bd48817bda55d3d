// Assumptions that say nothing, and ops whose assumptions nothing states.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// No such predicate.
func.func @f() {
  // expected-error @below {{'tiny.assume' predicate 'lt' is not 'eq' or 'le' [TC111 InvalidAttribute]}}
  "tiny.assume"() {lhs = "M", predicate = "lt", rhs = "N"} : () -> ()
  return
}

// -----

// Not in canonical form.
func.func @f() {
  // expected-error @below {{'tiny.assume' 'N*M' is not in canonical form; write 'M*N' [TC114 InvalidExtent]}}
  "tiny.assume"() {lhs = "N*M", predicate = "eq", rhs = "K"} : () -> ()
  return
}

// -----

// No extent.
func.func @f() {
  // expected-error @below {{'tiny.assume' cannot read the extent 'M &': unexpected '&' [TC114 InvalidExtent]}}
  "tiny.assume"() {lhs = "M &", predicate = "eq", rhs = "K"} : () -> ()
  return
}

// -----

// A side that is not text.
func.func @f() {
  // expected-error @below {{'tiny.assume' 'rhs' must be a string, not 3 : i64 [TC111 InvalidAttribute]}}
  "tiny.assume"() {lhs = "M", predicate = "eq", rhs = 3 : i64} : () -> ()
  return
}

// -----

// A missing side.
func.func @f() {
  // expected-error @below {{'tiny.assume' lacks the attribute 'rhs'}}
  "tiny.assume"() {lhs = "M", predicate = "eq"} : () -> ()
  return
}

// -----

// A reshape that nothing justifies.
func.func @f(%x: tensor<?xf32, #tiny.dims<["C"]>>) {
  // expected-error @below {{'tiny.reshape' relies on C == G*R, which nothing states; add "tiny.assume"() {lhs = "C", predicate = "eq", rhs = "G*R"}}
  %0 = "tiny.reshape"(%x) : (tensor<?xf32, #tiny.dims<["C"]>>) -> tensor<?x?xf32, #tiny.dims<["G", "R"]>>
  return
}

// -----

// The converse of what is needed.
func.func @f(%x: tensor<?xf32, #tiny.dims<["H"]>>) {
  "tiny.assume"() {lhs = "H", predicate = "le", rhs = "3"} : () -> ()
  // expected-error @below {{'tiny.pool' relies on 3 <= H, which nothing states}}
  %0 = "tiny.pool"(%x) {kernel = array<i64: 3>, stride = array<i64: 1>, dilation = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["H"]>>) -> tensor<?x3xf32, #tiny.dims<["H - 2", 3]>>
  return
}

// -----

// A shrink to a symbolic bound.
func.func @f(%x: tensor<8xf32>) {
  // expected-error @below {{'tiny.shrink' relies on N <= 8, which nothing states}}
  %0 = "tiny.shrink"(%x) {lo = [0], hi = ["N"], step = array<i64: 1>} : (tensor<8xf32>) -> tensor<?xf32, #tiny.dims<["N"]>>
  return
}
