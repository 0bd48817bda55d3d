// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An access that is not the one of the op.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.block' y: 'accesses' is { y[i0] -> x[i0] }, not { y[i] -> x[3 - i] }; run --tiny-to-poly again}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 4 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[3 - i] }"], attrs = {op = "neg"}} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A domain that is off by one.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.block' y: 'domain' is { y[i0] : 0 <= i0 < 4 }, not { y[i] : 0 <= i <= 4 }}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i <= 4 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i] }"], attrs = {op = "neg"}} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A text that isl cannot read.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'domain' is { y[i :, and cannot be compared with { y[i0] : 0 <= i0 < 4 }: call to isl_set_read_from_str failed: syntax error}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i :", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i] }"], attrs = {op = "neg"}} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A block where there is none, a tensor that is a block, an edge with another dependence.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.non_scop' a is a 'poly.block'}}
  "poly.non_scop"() {name = "a", reason = "hard"} : () -> ()
  "poly.block"() {name = "b", kind = "ewise", domain = "{ b[i] : 0 <= i < 4 }", write = "{ b[i] -> b[i] }", accesses = ["{ b[i] -> a[i] }"], attrs = {op = "relu"}} : () -> ()
  // expected-error @+1 {{'poly.edge' a to b: 'true' is { a[i0] -> b[i0] : 0 <= i0 <= 3 }, not { a[i] -> b[i] }}}
  "poly.edge"() {source = "a", target = "b", true = ["{ a[i] -> b[i] }"], anti = [], output = []} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A block too few.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @+1 {{'poly.view' has 0 blocks and Non-SCoP tensors, and @main gives 1; run --tiny-to-poly again}}
"poly.view"() ({
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A view of a function that is not there.
// expected-error @+1 {{'poly.view' is about @gone, and there is no such function}}
"poly.view"() ({
  omp.terminator
}) {function = @gone} : () -> ()

// -----

// A kind that there is not.
"poly.view"() ({
  // expected-error @+1 {{'poly.block' kind "loop" is none of ewise, reduce, movement_affine, contraction_pattern, scan}}
  "poly.block"() {name = "y", kind = "loop", domain = "{ y[i] }", write = "{ y[i] -> y[i] }", accesses = [], attrs = {}} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// An attribute of the wrong kind.
"poly.view"() ({
  // expected-error @+1 {{'poly.edge' 'true' is "{ a[i] -> b[i] }", not a list of strings}}
  "poly.edge"() {source = "a", target = "b", true = "{ a[i] -> b[i] }", anti = [], output = []} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()
