// RUN: tinyc-opt --tiny-to-index-book --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-index-book --split-input-file --verify-roundtrip %s -o /dev/null

// An entry for each value: axes with size, kind and label, and the map to each operand.
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0, d2)>
// CHECK-DAG: #[[BOX:.*]] = affine_set<(d0, d1, d2)[s0, s1] : (d0 >= 0, -d0 + s0 - 1 >= 0, d1 >= 0, -d1 >= 0, d2 >= 0, -d2 + s1 - 1 >= 0)>
// CHECK: func.func @main
// CHECK: "index_book.table"() ({
// CHECK-NEXT: "index_book.entry"() {{.*}}kinds = ["iter", "iter"], labels = ["m", "k"], maps = [], {{.*}}sizes = ["M", "K"]{{.*}}value = "X"}
// CHECK-NEXT: "index_book.entry"() {dims = array<i64: 1, 1, 1>, domain = #[[BOX]], guard_values = [], guards = [], inputs = ["X"], kinds = ["iter", "broadcast", "iter"], labels = ["m", "", "k"], maps = [#[[ROWS]]], reduce_axes = array<i64>, sizes = ["M", 1, "K"], symbols = ["M", "K"], value = "v0"}
// CHECK-NEXT: omp.terminator
// CHECK-NEXT: }) {function = @main}
func.func @main(%x: tensor<?x?xf16, #tiny.dims<["M", "K"]>> {tiny.name = "X"}) -> tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>> {
  %0 = "tiny.reshape"(%x) : (tensor<?x?xf16, #tiny.dims<["M", "K"]>>) -> tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>>
  return %0 : tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>>
}

// -----

// A reduced axis comes last and keeps its position in the operand under reduce_axes.
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK: inputs = ["x"], kinds = ["iter", "reduce"], labels = ["", ""], maps = [#[[MAP]]], reduce_axes = array<i64: 0>, sizes = [3, 4]
func.func @main(%x: tensor<4x3xf32> {tiny.name = "x"}) -> tensor<3xf32> {
  %0 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 0>} : (tensor<4x3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// A pad is a guard with its value; a reshape is divided into digits.
// CHECK-DAG: #[[PAD:.*]] = affine_map<(d0)[s0] -> (d0 - 2)>
// CHECK-DAG: #[[IN:.*]] = affine_set<(d0)[s0] : (d0 - 2 >= 0, -d0 + s0 + 1 >= 0)>
// CHECK-DAG: #[[SPLIT:.*]] = affine_map<(d0) -> (d0 floordiv 3, d0 mod 3)>
// CHECK: guard_values = [5.000000e-01], guards = [#[[IN]]], {{.*}}maps = [#[[PAD]]]
// CHECK: maps = [#[[SPLIT]]]
func.func @main(%x: tensor<?xf32, #tiny.dims<["M"]>>, %y: tensor<2x3xf32>) -> (tensor<?xf32, #tiny.dims<["M + 4"]>>, tensor<6xf32>) {
  %0 = "tiny.pad"(%x) {lo = array<i64: 2>, hi = array<i64: 2>, value = 0.5 : f32} : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M + 4"]>>
  %1 = "tiny.reshape"(%y) : (tensor<2x3xf32>) -> tensor<6xf32>
  return %0, %1 : tensor<?xf32, #tiny.dims<["M + 4"]>>, tensor<6xf32>
}

// -----

// What is not a quasi-affine map is an entry with the reason.
// CHECK: "index_book.non_scop"() {dims = array<i64: 1, 1>, inputs = ["x"], reason = "symbolic stride: the axes [M, N] become [N, M], {{.*}}", sizes = ["N", "M"], value = "v0"}
// CHECK: "index_book.non_scop"() {dims = array<i64: 1, 1>, inputs = ["v0", "i"], reason = "'tiny.gather' reads where its data says", sizes = [4, "M"], value = "v1"}
func.func @main(%x: tensor<?x?xf32, #tiny.dims<["M", "N"]>> {tiny.name = "x"}, %i: tensor<4xi32> {tiny.name = "i"}) -> tensor<4x?xf32, #tiny.dims<[4, "M"]>> {
  %0 = "tiny.reshape"(%x) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["N", "M"]>>
  %1 = "tiny.gather"(%0, %i) {axis = 0 : i64} : (tensor<?x?xf32, #tiny.dims<["N", "M"]>>, tensor<4xi32>) -> tensor<4x?xf32, #tiny.dims<[4, "M"]>>
  return %1 : tensor<4x?xf32, #tiny.dims<[4, "M"]>>
}

// -----

// A reshape of symbolic sizes splits a dimension into axes, and is then the identity between them.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d1, d2)>
// CHECK: "index_book.entry"() {dims = array<i64: 1, 2>, {{.*}}labels = ["s", "h", "d"], maps = [], {{.*}}sizes = ["S", "H", "D"]{{.*}}value = "x"}
// CHECK: "index_book.entry"() {dims = array<i64: 1, 1, 1>, {{.*}}inputs = ["x"], {{.*}}maps = [#[[ID]]]
func.func @main(%x: tensor<?x?xf32, #tiny.dims<["S", "D*H"]>> {tiny.name = "x"}) -> tensor<?x?x?xf32, #tiny.dims<["S", "H", "D"]>> {
  %0 = "tiny.reshape"(%x) : (tensor<?x?xf32, #tiny.dims<["S", "D*H"]>>) -> tensor<?x?x?xf32, #tiny.dims<["S", "H", "D"]>>
  return %0 : tensor<?x?x?xf32, #tiny.dims<["S", "H", "D"]>>
}

// -----

// A module without functions is left as it is.
// CHECK-NOT: index_book
module {
}

// -----

// A function that is no Tiny graph has no table.
// CHECK-NOT: index_book
func.func @host(%x: index) -> index {
  return %x : index
}
