// RUN: tinyc-opt --tiny-to-poly --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-poly --split-input-file --verify-roundtrip %s -o /dev/null

// A product and its sum are one block over m, n and k; the movements are composed away (specification 002, section 3).
// CHECK: "poly.view"() ({
// CHECK-NEXT: "poly.block"()
// CHECK-SAME: accesses = ["[M, N, K] -> { v4[m, n, k] -> X[m, k] }", "[M, N, K] -> { v4[m, n, k] -> W[k, n] }"]
// CHECK-SAME: lhs_idx = ["m", "k"], out_idx = ["m", "n"], pattern = "matmul", reduce_idx = ["k"], rhs_idx = ["k", "n"]
// CHECK-SAME: domain = "[M, N, K] -> { v4[m, n, k] : 0 <= m < M and 0 <= n < N and 0 <= k < K }"
// CHECK-SAME: kind = "contraction_pattern"
// CHECK-NEXT: "poly.block"()
// CHECK-SAME: accesses = ["[M, N] -> { v6[m, n] -> v4[m, n] }", "[M, N] -> { v6[m, n] -> bias[n] }"]
// CHECK-NEXT: "poly.edge"() {{.*}}source = "v4", target = "v6"
// CHECK-NEXT: omp.terminator
// CHECK-NEXT: }) {elements = {W = "f32", X = "f32", bias = "f32"}, function = @main, outputs = ["v6"]}
func.func @main(%x: tensor<?x?xf32, #tiny.dims<["M", "K"]>> {tiny.name = "X"}, %w: tensor<?x?xf32, #tiny.dims<["K", "N"]>> {tiny.name = "W"}, %b: tensor<?xf32, #tiny.dims<["N"]>> {tiny.name = "bias"}) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>> {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>
  %1 = "tiny.permute"(%w) {perm = array<i64: 1, 0>} : (tensor<?x?xf32, #tiny.dims<["K", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["N", "K"]>>
  %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<?x?xf32, #tiny.dims<["N", "K"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>
  %3 = "tiny.mul"(%0, %2) : (tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>, tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>
  %4 = "tiny.reduce"(%3) {op = "sum", axes = array<i64: 2>} : (tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %5 = "tiny.expand"(%b) {broadcast_dimensions = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %6 = "tiny.add"(%4, %5) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>, tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  return %6 : tensor<?x?xf32, #tiny.dims<["M", "N"]>>
}

// -----

// A pad, a pool and a sum along the window are a scan.
// CHECK: "poly.block"() {accesses = ["{ v2[i0, i1] -> x[i0 + i1 - 3] : 0 <= i0 + i1 - 3 < 4 }"]
// CHECK-SAME: exclusive = false, op = "sum"
// CHECK-SAME: rejected = {contraction = "the operand is not a product [no-product]"}, reverse = false
// CHECK-SAME: kind = "scan"
func.func @main(%x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %0 = "tiny.pad"(%x) {lo = array<i64: 3>, hi = array<i64: 0>, value = 0.0 : f32} : (tensor<4xf32>) -> tensor<7xf32>
  %1 = "tiny.pool"(%0) {kernel = array<i64: 4>, stride = array<i64: 1>, dilation = array<i64: 1>} : (tensor<7xf32>) -> tensor<4x4xf32>
  %2 = "tiny.reduce"(%1) {op = "sum", axes = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// What is not quasi-affine is not a block.
// CHECK: "poly.non_scop"() {name = "v0", reads = ["x", "i"], reason = "'tiny.gather' reads where its data says"}
// CHECK-NEXT: "poly.block"() {accesses = ["{ v1[i0] -> v0[i0] }"]
func.func @main(%x: tensor<9xf32> {tiny.name = "x"}, %i: tensor<4xi32> {tiny.name = "i"}) -> tensor<4xf32> {
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<9xf32>, tensor<4xi32>) -> tensor<4xf32>
  %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
