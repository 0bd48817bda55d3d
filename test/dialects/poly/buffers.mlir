// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// Tensors in one buffer: what is read and written before has to be over (anti, output).
// CHECK: "poly.edge"() {anti = [], output = ["{ a[i] -> c[i] }"], source = "a", target = "c", true = []}
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "tiny.neg"(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"poly.view"() ({
  "poly.block"() {name = "a", kind = "ewise", domain = "{ a[i] : 0 <= i < 4 }", write = "{ a[i] -> a[i] }", accesses = ["{ a[i] -> x[i] }"], attrs = {buffer = "arena", element = "f32", op = "neg"}} : () -> ()
  "poly.block"() {name = "b", kind = "ewise", domain = "{ b[i] : 0 <= i < 4 }", write = "{ b[i] -> b[i] }", accesses = ["{ b[i] -> a[i] }"], attrs = {element = "f32", op = "relu"}} : () -> ()
  "poly.block"() {name = "c", kind = "ewise", domain = "{ c[i] : 0 <= i < 4 }", write = "{ c[i] -> c[i] }", accesses = ["{ c[i] -> b[i] }"], attrs = {buffer = "arena", element = "f32", op = "neg"}} : () -> ()
  "poly.edge"() {source = "a", target = "b", true = ["{ a[i] -> b[i] }"], anti = [], output = []} : () -> ()
  "poly.edge"() {source = "b", target = "c", true = ["{ b[i] -> c[i] }"], anti = ["{ b[i] -> c[i] }"], output = []} : () -> ()
  "poly.edge"() {source = "a", target = "c", true = [], anti = [], output = ["{ a[i] -> c[i] }"]} : () -> ()
  omp.terminator
}) {elements = {x = "f32"}, function = @main, outputs = ["c"]} : () -> ()
