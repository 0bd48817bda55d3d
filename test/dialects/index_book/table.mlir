// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// A table stands beside its function; names of values and the form of a map are free, what the maps mean is not.
// CHECK-LABEL: "index_book.table"() ({
// CHECK: "index_book.entry"(){{.*}}value = "x"
// CHECK: "index_book.non_scop"()
// CHECK: {function = @main}
func.func @main(%x: tensor<6xf32>, %i: tensor<2xi32>) -> (tensor<2xf32>, tensor<2x3xf32>) {
  %0 = "tiny.reshape"(%x) : (tensor<6xf32>) -> tensor<2x3xf32>
  %1 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<6xf32>, tensor<2xi32>) -> tensor<2xf32>
  return %1, %0 : tensor<2xf32>, tensor<2x3xf32>
}
"index_book.table"() ({
  "index_book.entry"() {value = "x", sizes = [6], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (-d0 + 5 >= 0, d0 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  "index_book.entry"() {value = "i", sizes = [2], dims = array<i64: 1>, kinds = ["iter"], labels = [""], symbols = [], domain = affine_set<(d0) : (d0 >= 0, -d0 + 1 >= 0)>, inputs = [], maps = [], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  "index_book.entry"() {value = "split", sizes = [2, 3], dims = array<i64: 1, 1>, kinds = ["iter", "iter"], labels = ["", ""], symbols = [], domain = affine_set<(d0, d1) : (d0 >= 0, -d0 + 1 >= 0, d1 >= 0, -d1 + 2 >= 0)>, inputs = ["x"], maps = [affine_map<(d0, d1) -> ((d0 * 3 + d1) mod 6)>], guards = [], guard_values = [], reduce_axes = array<i64>} : () -> ()
  "index_book.non_scop"() {value = "taken", sizes = [2], dims = array<i64: 1>, inputs = ["x", "i"], reason = "'tiny.gather' reads where its data says"} : () -> ()
  omp.terminator
}) {function = @main} : () -> ()
