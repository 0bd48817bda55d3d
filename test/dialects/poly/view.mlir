// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// A view stands beside its function; the text of sets and maps and the names of tensors are free.
// CHECK-LABEL: "poly.view"() ({
// CHECK: "poly.non_scop"()
// CHECK: "poly.block"()
// CHECK: "poly.block"()
// CHECK: "poly.edge"()
// CHECK: {elements = {i = "i32", taken = "f32", x = "f32"}, function = @main, outputs = ["b"]}
func.func @main(%x: tensor<?xf32, #tiny.dims<["M"]>> {tiny.name = "x"}, %i: tensor<?xi32, #tiny.dims<["N"]>> {tiny.name = "i"}) -> tensor<?xf32, #tiny.dims<["N"]>> {
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<?xf32, #tiny.dims<["M"]>>, tensor<?xi32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["N"]>>
  %1 = "tiny.neg"(%0) : (tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["N"]>>
  %2 = "tiny.flip"(%1) {axes = array<i64: 0>} : (tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["N"]>>
  %3 = "tiny.relu"(%2) : (tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?xf32, #tiny.dims<["N"]>>
  return %3 : tensor<?xf32, #tiny.dims<["N"]>>
}
"poly.view"() ({
  "poly.non_scop"() {name = "taken", reason = "'tiny.gather' reads where its data says", reads = ["x", "i"]} : () -> ()
  "poly.block"() {name = "a", kind = "ewise", domain = "[N] -> { a[j] : j < N and j >= 0 }", write = "{ a[j] -> a[j] }", accesses = ["{ a[j] -> taken[j] }"], attrs = {element = "f32", op = "neg"}} : () -> ()
  "poly.block"() {name = "b", kind = "ewise", domain = "[N] -> { b[n] : 0 <= n < N }", write = "{ b[n] -> b[n] }", accesses = ["[N] -> { b[n] -> a[k] : n + k = N - 1 }"], attrs = {element = "f32", op = "relu"}} : () -> ()
  "poly.edge"() {source = "a", target = "b", true = ["[N] -> { a[i] -> b[N - 1 - i] : 0 <= i < N }"], anti = [], output = []} : () -> ()
  omp.terminator
}) {elements = {i = "i32", taken = "f32", x = "f32"}, function = @main, outputs = ["b"]} : () -> ()
