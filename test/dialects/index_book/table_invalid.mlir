// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A map that is not the one of the op.
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "tiny.permute"(%x) {perm = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
"index_book.table"() ({
  "index_book.entry"() {value = "x", sizes = [4, 4], dims = array<i64: 1, 1>, kinds = ["iter", "iter"], labels = ["", ""], symbols = [], domain = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  // expected-error @+1 {{'index_book.entry' of y: the map to x is [i1, i0], not [i0, i1]; run --tiny-to-index-book again}}
  "index_book.entry"() {value = "y", sizes = [4, 4], dims = array<i64: 1, 1>, kinds = ["iter", "iter"], labels = ["", ""], symbols = [], domain = affine_set<(d0, d1) : (d0 >= 0, -d0 + 3 >= 0, d1 >= 0, -d1 + 3 >= 0)>, inputs = ["x"], maps = [affine_map<(d0, d1) -> (d0, d1)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A guard that is off by one.
func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
  %0 = "tiny.pad"(%x) {lo = array<i64: 1>, hi = array<i64: 0>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
"index_book.table"() ({
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  // expected-error @+1 {{the guards are [0 <= i0 - 1 < 4 else 0.0], not [0 <= i0 - 1 < 5 else 0.0]}}
  "index_book.entry"() {value = "y", sizes = [5], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 4 >= 0)>, inputs = ["x"], maps = [affine_map<(d0) -> (d0 - 1)>], guards = [affine_set<(d0) : (d0 - 1 >= 0, -d0 + 5 >= 0)>], guard_values = [0.0 : f64], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A reason that is not the analysis' own.
func.func @main(%x: tensor<4xf32>, %i: tensor<1xi32>) -> tensor<1xf32> {
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<4xf32>, tensor<1xi32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
"index_book.table"() ({
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  "index_book.entry"() {value = "i", sizes = [1], dims = array<i64: 1>, kinds = ["broadcast"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  // expected-error @+1 {{'index_book.non_scop' of y: the inputs are [x, i], the reason is: 'tiny.gather' reads where its data says}}
  "index_book.non_scop"() {value = "y", sizes = [1], dims = array<i64: 1>, inputs = ["x", "i"], reason = "too hard"} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// An entry too few.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// expected-error @+1 {{'index_book.table' has 0 entries, and @main has 1 values; run --tiny-to-index-book again}}
"index_book.table"() ({
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A table of a function that is not there.
// expected-error @+1 {{'index_book.table' is about @gone, and there is no such function}}
"index_book.table"() ({
  omp.terminator
}) {function = @gone} : () -> ()

// -----

// A table holds entries.
// expected-error @+1 {{'index_book.table' may hold index_book.entry and index_book.non_scop only, not arith.constant}}
"index_book.table"() ({
  %0 = arith.constant 1 : i32
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A domain that is not the box of the sizes.
"index_book.table"() ({
  // expected-error @+1 {{'index_book.entry' 'domain' is affine_set<(d0) : (d0 >= 0, -d0 + 4 >= 0)>; the sizes give affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 4 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A product of axes.
"index_book.table"() ({
  // expected-error @+1 {{'index_book.entry' d0 * s0 is not affine}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = ["M"], domain = affine_set<(d0)[s0] : (d0 >= 0, -d0 + 3 >= 0)>, inputs = ["y"], maps = [affine_map<(d0)[s0] -> (d0 * s0)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// An attribute is missing.
"index_book.table"() ({
  // expected-error @+1 {{'index_book.non_scop' lacks the attribute 'reason'}}
  "index_book.non_scop"() {value = "x", sizes = [4], dims = array<i64: 1>, inputs = []} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// Divisions nested deeper than any op makes them.
"index_book.table"() ({
  // expected-error @+1 {{an affine expression nests too deeply}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = ["y"], maps = [affine_map<(d0) -> ((((((((((((d0 + 1) mod 30 + 1) mod 29 + 1) mod 28 + 1) mod 27 + 1) mod 26 + 1) mod 25 + 1) mod 24 + 1) mod 23 + 1) mod 22 + 1) mod 21 + 1) mod 20)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A kind that there is not.
"index_book.table"() ({
  // expected-error @+1 {{'kinds' must say iter or broadcast or reduce for each of the 1 axes}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["loop"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A label that is not the size's symbol.
"index_book.table"() ({
  // expected-error @+1 {{'labels' is ['m']; the sizes give ['']}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = ["m"], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// An input without its map.
"index_book.table"() ({
  // expected-error @+1 {{there must be one map for each input, and one value for each guard}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = ["y"], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A guard that is no interval.
"index_book.table"() ({
  // expected-error @+1 {{is not the guard (e >= 0, size - 1 - e >= 0) of a number}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [affine_set<(d0) : (d0 - 1 >= 0)>], guard_values = [0.0], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A map over other axes.
"index_book.table"() ({
  // expected-error @+1 {{affine_map<(d0, d1) -> (d1)> is not over 1 axes and 0 symbols}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = ["y"], maps = [affine_map<(d0, d1) -> (d1)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// Dimensions of more axes than there are.
"index_book.table"() ({
  // expected-error @+1 {{'dims' is array<i64: 2>, not array<i64: …> of positive numbers that add up to the 1 kept axes}}
  "index_book.entry"() {value = "x", sizes = [4], dims = array<i64: 2>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A dimension that is not split as the function's reshapes need it.
func.func @main(%x: tensor<?xf32, #tiny.dims<["D*H"]>>) -> tensor<?x?xf32, #tiny.dims<["H", "D"]>> {
  %0 = "tiny.reshape"(%x) : (tensor<?xf32, #tiny.dims<["D*H"]>>) -> tensor<?x?xf32, #tiny.dims<["H", "D"]>>
  return %0 : tensor<?x?xf32, #tiny.dims<["H", "D"]>>
}
"index_book.table"() ({
  // expected-error @+1 {{'index_book.entry' of x: the axes are [H iter, D iter], [2] of them in each dimension, the reduced ones [] of the operand}}
  "index_book.entry"() {value = "x", sizes = ["D*H"], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = ["D*H"], domain = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  "index_book.entry"() {value = "y", sizes = ["H", "D"], dims = array<i64: 1, 1>, kinds = ["iter", "iter"], labels = ["h", "d"], symbols = ["H", "D"], domain = affine_set<(d0, d1)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 + s1 - 1 >= 0)>, inputs = ["x"], maps = [affine_map<(d0, d1)[s0, s1] -> (d0, d1)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A size with a symbol that is not listed.
"index_book.table"() ({
  // expected-error @+1 {{'symbols' is ['M'] and lacks 'K', which 'sizes' has; list it}}
  "index_book.entry"() {value = "x", sizes = ["M", "K"], dims = array<i64: 1, 1>, kinds = ["iter", "iter"], labels = ["m", "k"], symbols = ["M"], domain = affine_set<(d0, d1)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()

// -----

// A domain that says more than the box of the axes and what the divisions of the maps mean.
func.func @main(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %0 = "tiny.reshape"(%x) : (tensor<3x4xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
"index_book.table"() ({
  "index_book.entry"() {value = "x", sizes = [3, 4], dims = array<i64: 1, 1>, kinds = ["iter", "iter"], labels = ["", ""], symbols = [], domain = affine_set<(d0, d1) : (d0 >= 0, -d0 + 2 >= 0, d1 >= 0, -d1 + 3 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  // expected-error @+1 {{the sizes give affine_set<(d0) : (d0 >= 0, -d0 + 11 >= 0, d0 mod 4 >= 0, -d0 + (d0 floordiv 4) * 4 + 3 >= 0)>}}
  "index_book.entry"() {value = "y", sizes = [12], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 11 >= 0, -(d0 mod 4) + 2 >= 0)>, inputs = ["x"], maps = [affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()
