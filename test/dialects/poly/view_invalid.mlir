// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// An access that is not the one of the op.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.block' y: 'accesses' is { y[i0] -> x[i0] }, not { y[i] -> x[3 - i] }; run --tiny-to-poly again}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 4 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[3 - i] }"], attrs = {element = "f32", op = "neg"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A domain that is off by one.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.block' y: 'domain' is { y[i0] : 0 <= i0 < 4 }, not { y[i] : 0 <= i <= 4 }}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i <= 4 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i] }"], attrs = {element = "f32", op = "neg"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A text that isl cannot read.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'domain' is { y[i :, and cannot be compared with { y[i0] : 0 <= i0 < 4 }: call to isl_set_read_from_str failed: syntax error}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i :", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i] }"], attrs = {element = "f32", op = "neg"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A block where there is none, a tensor that is a block, an edge with another dependence.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.non_scop' a is a 'poly.block'}}
  "poly.non_scop"() {name = "a", reason = "hard", reads = []} : () -> ()
  "poly.block"() {name = "b", kind = "ewise", domain = "{ b[i] : 0 <= i < 4 }", write = "{ b[i] -> b[i] }", accesses = ["{ b[i] -> a[i] }"], attrs = {element = "f32", op = "relu"}} : () -> ()
  // expected-error @+1 {{'poly.edge' a to b: 'true' is { a[i0] -> b[i0] }, not { a[i] -> b[3 - i] }}}
  "poly.edge"() {source = "a", target = "b", true = ["{ a[i] -> b[3 - i] }"], anti = [], output = []} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["b"]} : () -> ()

// -----

// A block too few.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @+1 {{'poly.view' has 0 blocks and Non-SCoP tensors, and @main gives 1; run --tiny-to-poly again}}
"poly.view"() ({
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = []} : () -> ()

// -----

// A view of a function that is not there.
// expected-error @+1 {{'poly.view' is about @gone, and there is no such function}}
"poly.view"() ({
  omp.terminator
}) {elements = {x = "f32"}, function = @gone, outputs = []} : () -> ()

// -----

// A kind that there is not.
"poly.view"() ({
  // expected-error @+1 {{'poly.block' kind "loop" is not one of ewise, reduce, movement_affine, contraction_pattern, scan}}
  "poly.block"() {name = "y", kind = "loop", domain = "{ y[i] }", write = "{ y[i] -> y[i] }", accesses = [], attrs = {}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// An attribute of the wrong kind.
"poly.view"() ({
  // expected-error @+1 {{'poly.edge' 'true' is "{ a[i] -> b[i] }", not a list of strings}}
  "poly.edge"() {source = "a", target = "b", true = "{ a[i] -> b[i] }", anti = [], output = []} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = []} : () -> ()

// -----

// A floor division without its guard (specification 000, section 13).
"poly.view"() ({
  // expected-error @+1 {{'poly.block' 'accesses' has a floor division by 3 and 'domain' lacks its guard 0 <= i - 3*floor(i/3) < 3}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 12 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[floor(i/3)] }"], attrs = {element = "f32"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A guard of another division.
"poly.view"() ({
  // expected-error @+1 {{'accesses' has a floor division by 3 and 'domain' lacks its guard 0 <= i - 3*floor(i/3) < 3}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 12 and 0 <= i - 4*floor(i/4) < 4 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[floor(i/3)] }"], attrs = {element = "f32"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A remainder that is not expanded.
"poly.view"() ({
  // expected-error @+1 {{'accesses' is { y[i] -> x[i mod 3] }, which does not read: 'mod' is not expanded; write e - d*floor(e/d), and its guard in the domain}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 12 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i mod 3] }"], attrs = {element = "f32"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// An access that no analysis takes.
"poly.view"() ({
  // expected-error @+1 {{'y': the access to 'x' is over a limit: pad guards 0 of 16, pieces 1 of 32, floor divisions 4 of 8, their nesting 4 of 3 [TC106 ExcessivePiecewise]}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 99 and 0 <= i - 2*floor(i/2) < 2 and 0 <= floor(i/2) + i - 3*floor((floor(i/2) + i)/3) < 3 and 0 <= i + floor((floor(i/2) + i)/3) - 5*floor((i + floor((floor(i/2) + i)/3))/5) < 5 and 0 <= i + floor((i + floor((floor(i/2) + i)/3))/5) - 7*floor((i + floor((i + floor((floor(i/2) + i)/3))/5))/7) < 7 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[floor((i + floor((i + floor((floor(i/2) + i)/3))/5))/7)] }"], attrs = {element = "f32"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A guard without the value that stands outside.
"poly.view"() ({
  // expected-error @+1 {{access 0 has the conditions 0 <= i0 - 1 < 4; 'pads' has none}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 6 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i - 1] : 0 <= i - 1 < 4 }"], attrs = {element = "f32"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A pad that says too little.
"poly.view"() ({
  // expected-error @+1 {{'pads' has {'access': 0}; it must have {access = 0, inside = a set, value = a number}}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 6 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i] }"], attrs = {element = "f32", pads = [{access = 0}]}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// An element type that there is not.
"poly.view"() ({
  // expected-error @+1 {{'attrs' has the element type f31; it must be one of}}
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 6 }", write = "{ y[i] -> y[i] }", accesses = [], attrs = {element = "f31"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// A set in the place of a map.
"poly.view"() ({
  // expected-error @+1 {{'write' is { z[i] }; it must be a map of z[…]}}
  "poly.block"() {name = "z", kind = "ewise", domain = "{ z[i] : 0 <= i < 6 }", write = "{ z[i] }", accesses = [], attrs = {element = "f32"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["z"]} : () -> ()

// -----

// An output that is none.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error @+1 {{'poly.view' of @main: 'outputs' is ["y"], not ["x"]; run --tiny-to-poly again}}
"poly.view"() ({
  "poly.block"() {name = "y", kind = "ewise", domain = "{ y[i] : 0 <= i < 4 }", write = "{ y[i] -> y[i] }", accesses = ["{ y[i] -> x[i] }"], attrs = {element = "f32", op = "neg"}} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["x"]} : () -> ()

// -----

// A tensor that reads less than its op.
func.func @main(%x: tensor<9xf32> {tiny.name = "x"}, %i: tensor<4xi32> {tiny.name = "i"}) -> tensor<4xf32> {
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<9xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"poly.view"() ({
  // expected-error @+1 {{'poly.non_scop' y: 'reads' is ["x", "i"], not ["x"]}}
  "poly.non_scop"() {name = "y", reason = "'tiny.gather' reads where its data says", reads = ["x"]} : () -> ()
  omp.terminator
}) {elements = {i = "i32", x = "f32", y = "f32"}, function = @main, outputs = ["y"]} : () -> ()

// -----

// Outputs that are no names.
// expected-error @+1 {{'poly.view' 'outputs' is [0], not a list of strings}}
"poly.view"() ({
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = [0]} : () -> ()

// -----

// Elements of no type.
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{'poly.view' 'elements' is {x = "f33"}, not element types by the names of tensors}}
"poly.view"() ({
  omp.terminator
}) {elements = {x = "f33"}, function = @main, outputs = ["x"]} : () -> ()
