// RUN: tinyc-opt --tiny-to-poly --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-poly --split-input-file --verify-roundtrip %s -o /dev/null

// Specification 001, section 5.1: GEMM with symbolic M, N, K.
// CHECK: "poly.view"() ({
// CHECK-NEXT: "poly.block"() {accesses = ["[M, N, K] -> { v6[m, n, k] -> A[m, k] }", "[M, N, K] -> { v6[m, n, k] -> B[k, n] }"]
// CHECK-SAME: affine_offsets = []
// CHECK-SAME: batch_idx = []
// CHECK-SAME: lhs_idx = ["m", "k"]
// CHECK-SAME: out_idx = ["m", "n"]
// CHECK-SAME: pattern = "matmul"
// CHECK-SAME: reduce_idx = ["k"]
// CHECK-SAME: rhs_idx = ["k", "n"]
// CHECK-SAME: domain = "[M, N, K] -> { v6[m, n, k] : 0 <= m < M and 0 <= n < N and 0 <= k < K }", kind = "contraction_pattern"
// CHECK-NEXT: "poly.block"() {accesses = ["[M, N] -> { v7[m, n] -> v6[m, n] }"]
// CHECK-SAME: domain = "[M, N] -> { v7[m, n] : 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v6", target = "v7", true = ["[M, N, K] -> { v6[m, n, k] -> v7[m, n] }"]}
// CHECK-NEXT: omp.terminator
func.func @main(%arg0: tensor<?x?xf16, #tiny.dims<["M", "K"]>> {tiny.name = "A"}, %arg1: tensor<?x?xf16, #tiny.dims<["K", "N"]>> {tiny.name = "B"}) -> (tensor<?x?xf16, #tiny.dims<["M", "N"]>> {tiny.name = "n9"}) {
  %0 = "tiny.reshape"(%arg0) : (tensor<?x?xf16, #tiny.dims<["M", "K"]>>) -> tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>>
  %1 = "tiny.permute"(%arg1) {perm = array<i64: 1, 0>} : (tensor<?x?xf16, #tiny.dims<["K", "N"]>>) -> tensor<?x?xf16, #tiny.dims<["N", "K"]>>
  %2 = "tiny.reshape"(%1) : (tensor<?x?xf16, #tiny.dims<["N", "K"]>>) -> tensor<1x?x?xf16, #tiny.dims<[1, "N", "K"]>>
  %3 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>>) -> tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>
  %4 = "tiny.expand"(%2) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x?x?xf16, #tiny.dims<[1, "N", "K"]>>) -> tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>
  %5 = "tiny.mul"(%3, %4) : (tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>, tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>) -> tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>
  %6 = "tiny.reduce"(%5) {axes = array<i64: 2>, op = "sum"} : (tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %7 = "tiny.cast"(%6) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf16, #tiny.dims<["M", "N"]>>
  return %7 : tensor<?x?xf16, #tiny.dims<["M", "N"]>>
}

// -----

// Specification 001, section 5.2: a grouped convolution; images, channels and groups are symbols, a group is an axis of its own.
// CHECK: "poly.view"() ({
// CHECK-NEXT: "poly.block"() {accesses = ["[N, G, Rcout, H, W, Cin] -> { v9[n, g, rcout, i3, i4, cin, i6, i7] -> X[n, g, cin, 2*i3 + i6 - 1, 2*i4 + i7 - 1] : 0 <= 2*i3 + i6 - 1 < H and 0 <= 2*i4 + i7 - 1 < W }", "[N, G, Rcout, H, W, Cin] -> { v9[n, g, rcout, i3, i4, cin, i6, i7] -> W[g, rcout, cin, i6, i7] }"]
// CHECK-SAME: affine_offsets = [{axis = 3 : i64, dilation = 1 : i64, kernel = "i6", operand = "lhs", outer = "i3", pad = 1 : i64, stride = 2 : i64}, {axis = 4 : i64, dilation = 1 : i64, kernel = "i7", operand = "lhs", outer = "i4", pad = 1 : i64, stride = 2 : i64}]
// CHECK-SAME: batch_idx = ["g"]
// CHECK-SAME: lhs_idx = ["g", "n", "i3", "i4", "cin", "i6", "i7"]
// CHECK-SAME: out_idx = ["n", "g", "rcout", "i3", "i4"]
// CHECK-SAME: pattern = "conv"
// CHECK-SAME: reduce_idx = ["cin", "i6", "i7"]
// CHECK-SAME: rhs_idx = ["g", "cin", "i6", "i7", "rcout"]
// CHECK-SAME: domain = "[N, G, Rcout, H, W, Cin] -> { v9[n, g, rcout, i3, i4, cin, i6, i7] : 0 <= n < N and 0 <= g < G and 0 <= rcout < Rcout and 0 <= i3 < floor((H - 1)/2) + 1 and 0 <= i4 < floor((W - 1)/2) + 1 and 0 <= cin < Cin and 0 <= i6 < 3 and 0 <= i7 < 3 and 0 <= H - 2*floor((H - 1)/2) - 1 < 2 and 0 <= W - 2*floor((W - 1)/2) - 1 < 2 }", kind = "contraction_pattern"
// CHECK-NEXT: "poly.block"() {accesses = ["[G, Rcout] -> { v12[i0, g, rcout, i3, i4] -> bias[g, rcout] }"]
// CHECK-SAME: domain = "[G, Rcout] -> { v12[i0, g, rcout, i3, i4] : 0 <= i0 < 1 and 0 <= g < G and 0 <= rcout < Rcout and 0 <= i3 < 1 and 0 <= i4 < 1 }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[N, G, Rcout, H, W] -> { v14[n, g, rcout, i3, i4] -> v9[n, g, rcout, i3, i4] }", "[N, G, Rcout, H, W] -> { v14[n, g, rcout, i3, i4] -> v12[0, g, rcout, 0, 0] }"]
// CHECK-SAME: domain = "[N, G, Rcout, H, W] -> { v14[n, g, rcout, i3, i4] : 0 <= n < N and 0 <= g < G and 0 <= rcout < Rcout and 0 <= i3 < floor((H - 1)/2) + 1 and 0 <= i4 < floor((W - 1)/2) + 1 and 0 <= H - 2*floor((H - 1)/2) - 1 < 2 and 0 <= W - 2*floor((W - 1)/2) - 1 < 2 }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[N, G, Rcout, H, W] -> { v15[n, g, rcout, i3, i4] -> v14[n, g, rcout, i3, i4] }"]
// CHECK-SAME: domain = "[N, G, Rcout, H, W] -> { v15[n, g, rcout, i3, i4] : 0 <= n < N and 0 <= g < G and 0 <= rcout < Rcout and 0 <= i3 < floor((H - 1)/2) + 1 and 0 <= i4 < floor((W - 1)/2) + 1 and 0 <= H - 2*floor((H - 1)/2) - 1 < 2 and 0 <= W - 2*floor((W - 1)/2) - 1 < 2 }", kind = "ewise"
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v9", target = "v14", true = ["[N, G, Rcout, H, W, Cin] -> { v9[n, g, rcout, i3, i4, cin, i6, i7] -> v14[n, g, rcout, i3, i4] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v12", target = "v14", true = ["[G, Rcout, N, H, W] -> { v12[i0, g, rcout, i3, i4] -> v14[n, g, rcout, i3_, i4_] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v14", target = "v15", true = ["[N, G, Rcout, H, W] -> { v14[n, g, rcout, i3, i4] -> v15[n, g, rcout, i3, i4] }"]}
// CHECK-NEXT: omp.terminator
func.func @main(%arg0: tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Cin", "H", "W"]>> {tiny.name = "X"}, %arg1: tensor<?x?x3x3xf16, #tiny.dims<["G*Rcout", "Cin", 3, 3]>> {tiny.name = "W"}, %arg2: tensor<?xf16, #tiny.dims<["G*Rcout"]>> {tiny.name = "bias"}) -> (tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>> {tiny.name = "y"}) {
  "tiny.assume"() {lhs = "3", predicate = "le", rhs = "H + 2"} : () -> ()
  "tiny.assume"() {lhs = "3", predicate = "le", rhs = "W + 2"} : () -> ()
  %0 = "tiny.pad"(%arg0) {hi = array<i64: 0, 0, 1, 1>, lo = array<i64: 0, 0, 1, 1>, value = 0.000000e+00 : f16} : (tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Cin", "H", "W"]>>) -> tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Cin", "H + 2", "W + 2"]>>
  %1 = "tiny.pool"(%0) {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>} : (tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Cin", "H + 2", "W + 2"]>>) -> tensor<?x?x?x?x3x3xf16, #tiny.dims<["N", "G*Cin", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3]>>
  %2 = "tiny.reshape"(%1) : (tensor<?x?x?x?x3x3xf16, #tiny.dims<["N", "G*Cin", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3]>>) -> tensor<?x?x?x1x?x?x3x3xf16, #tiny.dims<["N", "G", "Cin", 1, "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3]>>
  %3 = "tiny.expand"(%2) {broadcast_dimensions = array<i64: 0, 1, 2, 3, 4, 5, 6, 7>} : (tensor<?x?x?x1x?x?x3x3xf16, #tiny.dims<["N", "G", "Cin", 1, "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3]>>) -> tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Cin", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3]>>
  %4 = "tiny.permute"(%3) {perm = array<i64: 0, 1, 3, 4, 5, 2, 6, 7>} : (tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Cin", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3]>>) -> tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3]>>
  %5 = "tiny.reshape"(%arg1) : (tensor<?x?x3x3xf16, #tiny.dims<["G*Rcout", "Cin", 3, 3]>>) -> tensor<?x?x?x3x3xf16, #tiny.dims<["G", "Rcout", "Cin", 3, 3]>>
  %6 = "tiny.reshape"(%5) : (tensor<?x?x?x3x3xf16, #tiny.dims<["G", "Rcout", "Cin", 3, 3]>>) -> tensor<1x?x?x1x1x?x3x3xf16, #tiny.dims<[1, "G", "Rcout", 1, 1, "Cin", 3, 3]>>
  %7 = "tiny.expand"(%6) {broadcast_dimensions = array<i64: 0, 1, 2, 3, 4, 5, 6, 7>} : (tensor<1x?x?x1x1x?x3x3xf16, #tiny.dims<[1, "G", "Rcout", 1, 1, "Cin", 3, 3]>>) -> tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3]>>
  %8 = "tiny.mul"(%4, %7) : (tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3]>>, tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3]>>) -> tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3]>>
  %9 = "tiny.reduce"(%8) {axes = array<i64: 5, 6, 7>, op = "sum"} : (tensor<?x?x?x?x?x?x3x3xf16, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3]>>) -> tensor<?x?x?x?x?xf32, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>
  %10 = "tiny.reshape"(%9) : (tensor<?x?x?x?x?xf32, #tiny.dims<["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>
  %11 = "tiny.reshape"(%arg2) : (tensor<?xf16, #tiny.dims<["G*Rcout"]>>) -> tensor<1x?x1x1xf16, #tiny.dims<[1, "G*Rcout", 1, 1]>>
  %12 = "tiny.cast"(%11) : (tensor<1x?x1x1xf16, #tiny.dims<[1, "G*Rcout", 1, 1]>>) -> tensor<1x?x1x1xf32, #tiny.dims<[1, "G*Rcout", 1, 1]>>
  %13 = "tiny.expand"(%12) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<1x?x1x1xf32, #tiny.dims<[1, "G*Rcout", 1, 1]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>
  %14 = "tiny.add"(%10, %13) : (tensor<?x?x?x?xf32, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>, tensor<?x?x?x?xf32, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>
  %15 = "tiny.cast"(%14) : (tensor<?x?x?x?xf32, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>) -> tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>
  return %15 : tensor<?x?x?x?xf16, #tiny.dims<["N", "G*Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"]>>
}

// -----

// Specification 001, section 5.3 (as corrected in the examples): QK^T and softmax, all sizes symbols.
// CHECK: "poly.view"() ({
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N, D] -> { v5[b, h, m, n, d] -> Q[b, h, m, d] }", "[B, H, M, N, D] -> { v5[b, h, m, n, d] -> K[b, h, n, d] }"]
// CHECK-SAME: affine_offsets = []
// CHECK-SAME: batch_idx = ["b", "h"]
// CHECK-SAME: lhs_idx = ["b", "h", "m", "d"]
// CHECK-SAME: out_idx = ["b", "h", "m", "n"]
// CHECK-SAME: pattern = "matmul"
// CHECK-SAME: reduce_idx = ["d"]
// CHECK-SAME: rhs_idx = ["b", "h", "d", "n"]
// CHECK-SAME: domain = "[B, H, M, N, D] -> { v5[b, h, m, n, d] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N and 0 <= d < D }", kind = "contraction_pattern"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v6[b, h, m, n] -> v5[b, h, m, n] }"]
// CHECK-SAME: rejected = {contraction = "the reduction is a max, not a sum [not-a-sum]", fold = "the reduction is a max, not a sum [not-a-sum]", scan = "nothing bounds the sum of n and a kept axis to the length of that kept axis [no-bound]"}
// CHECK-SAME: domain = "[B, H, M, N] -> { v6[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "reduce"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v9[b, h, m, n] -> v5[b, h, m, n] }", "[B, H, M, N] -> { v9[b, h, m, n] -> v6[b, h, m] }"]
// CHECK-SAME: domain = "[B, H, M, N] -> { v9[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = []
// CHECK-SAME: domain = "[B, H, M, N] -> { v10[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v11[b, h, m, n] -> v9[b, h, m, n] }", "[B, H, M, N] -> { v11[b, h, m, n] -> v10[b, h, m, n] }"]
// CHECK-SAME: domain = "[B, H, M, N] -> { v11[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v12[b, h, m, n] -> v11[b, h, m, n] }"]
// CHECK-SAME: domain = "[B, H, M, N] -> { v12[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v13[b, h, m, n] -> v12[b, h, m, n] }"]
// CHECK-SAME: domain = "[B, H, M, N] -> { v13[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "reduce"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v16[b, h, m, n] -> v12[b, h, m, n] }", "[B, H, M, N] -> { v16[b, h, m, n] -> v13[b, h, m] }"]
// CHECK-SAME: domain = "[B, H, M, N] -> { v16[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[B, H, M, N] -> { v17[b, h, m, n] -> v16[b, h, m, n] }"]
// CHECK-SAME: domain = "[B, H, M, N] -> { v17[b, h, m, n] : 0 <= b < B and 0 <= h < H and 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v5", target = "v6", true = ["[B, H, M, N, D] -> { v5[b, h, m, n, d] -> v6[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v5", target = "v9", true = ["[B, H, M, N, D] -> { v5[b, h, m, n, d] -> v9[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v6", target = "v9", true = ["[B, H, M, N] -> { v6[b, h, m, n] -> v9[b, h, m, n_] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v9", target = "v11", true = ["[B, H, M, N] -> { v9[b, h, m, n] -> v11[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v10", target = "v11", true = ["[B, H, M, N] -> { v10[b, h, m, n] -> v11[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v11", target = "v12", true = ["[B, H, M, N] -> { v11[b, h, m, n] -> v12[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v12", target = "v13", true = ["[B, H, M, N] -> { v12[b, h, m, n] -> v13[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v12", target = "v16", true = ["[B, H, M, N] -> { v12[b, h, m, n] -> v16[b, h, m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v13", target = "v16", true = ["[B, H, M, N] -> { v13[b, h, m, n] -> v16[b, h, m, n_] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v16", target = "v17", true = ["[B, H, M, N] -> { v16[b, h, m, n] -> v17[b, h, m, n] }"]}
// CHECK-NEXT: omp.terminator
func.func @main(%arg0: tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "M", "D"]>> {tiny.name = "Q"}, %arg1: tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "N", "D"]>> {tiny.name = "K"}) -> (tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N"]>> {tiny.name = "n15"}) {
  %0 = "tiny.reshape"(%arg0) : (tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "M", "D"]>>) -> tensor<?x?x?x1x?xf16, #tiny.dims<["B", "H", "M", 1, "D"]>>
  %1 = "tiny.reshape"(%arg1) : (tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "N", "D"]>>) -> tensor<?x?x1x?x?xf16, #tiny.dims<["B", "H", 1, "N", "D"]>>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>} : (tensor<?x?x?x1x?xf16, #tiny.dims<["B", "H", "M", 1, "D"]>>) -> tensor<?x?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N", "D"]>>
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 0, 1, 2, 3, 4>} : (tensor<?x?x1x?x?xf16, #tiny.dims<["B", "H", 1, "N", "D"]>>) -> tensor<?x?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N", "D"]>>
  %4 = "tiny.mul"(%2, %3) : (tensor<?x?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N", "D"]>>, tensor<?x?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N", "D"]>>) -> tensor<?x?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N", "D"]>>
  %5 = "tiny.reduce"(%4) {axes = array<i64: 4>, op = "sum"} : (tensor<?x?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N", "D"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %6 = "tiny.reduce"(%5) {axes = array<i64: 3>, op = "max"} : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?xf32, #tiny.dims<["B", "H", "M"]>>
  %7 = "tiny.reshape"(%6) : (tensor<?x?x?xf32, #tiny.dims<["B", "H", "M"]>>) -> tensor<?x?x?x1xf32, #tiny.dims<["B", "H", "M", 1]>>
  %8 = "tiny.expand"(%7) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<?x?x?x1xf32, #tiny.dims<["B", "H", "M", 1]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %9 = "tiny.sub"(%5, %8) : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>, tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %10 = "tiny.const"() {value = 1.44269502 : f32} : () -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %11 = "tiny.mul"(%9, %10) : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>, tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %12 = "tiny.exp2"(%11) : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %13 = "tiny.reduce"(%12) {axes = array<i64: 3>, op = "sum"} : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?xf32, #tiny.dims<["B", "H", "M"]>>
  %14 = "tiny.reshape"(%13) : (tensor<?x?x?xf32, #tiny.dims<["B", "H", "M"]>>) -> tensor<?x?x?x1xf32, #tiny.dims<["B", "H", "M", 1]>>
  %15 = "tiny.expand"(%14) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<?x?x?x1xf32, #tiny.dims<["B", "H", "M", 1]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %16 = "tiny.fdiv"(%12, %15) : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>, tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>
  %17 = "tiny.cast"(%16) : (tensor<?x?x?x?xf32, #tiny.dims<["B", "H", "M", "N"]>>) -> tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N"]>>
  return %17 : tensor<?x?x?x?xf16, #tiny.dims<["B", "H", "M", "N"]>>
}

// -----

// Specification 002, sections 1 to 3: GEMM + bias + ReLU, the running example.
// CHECK: "poly.view"() ({
// CHECK-NEXT: "poly.block"() {accesses = ["[M, N, K] -> { v8[m, n, k] -> X[m, k] }", "[M, N, K] -> { v8[m, n, k] -> W[k, n] }"]
// CHECK-SAME: affine_offsets = []
// CHECK-SAME: batch_idx = []
// CHECK-SAME: lhs_idx = ["m", "k"]
// CHECK-SAME: out_idx = ["m", "n"]
// CHECK-SAME: pattern = "matmul"
// CHECK-SAME: reduce_idx = ["k"]
// CHECK-SAME: rhs_idx = ["k", "n"]
// CHECK-SAME: domain = "[M, N, K] -> { v8[m, n, k] : 0 <= m < M and 0 <= n < N and 0 <= k < K }", kind = "contraction_pattern"
// CHECK-NEXT: "poly.block"() {accesses = ["[N] -> { v11[i0, n] -> bias[n] }"]
// CHECK-SAME: domain = "[N] -> { v11[i0, n] : 0 <= i0 < 1 and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[M, N] -> { v13[m, n] -> v8[m, n] }", "[M, N] -> { v13[m, n] -> v11[0, n] }"]
// CHECK-SAME: domain = "[M, N] -> { v13[m, n] : 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[M, N] -> { v14[m, n] -> v13[m, n] }"]
// CHECK-SAME: domain = "[M, N] -> { v14[m, n] : 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.block"() {accesses = ["[M, N] -> { v15[m, n] -> v14[m, n] }"]
// CHECK-SAME: domain = "[M, N] -> { v15[m, n] : 0 <= m < M and 0 <= n < N }", kind = "ewise"
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v8", target = "v13", true = ["[M, N, K] -> { v8[m, n, k] -> v13[m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v11", target = "v13", true = ["[N, M] -> { v11[i0, n] -> v13[m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v13", target = "v14", true = ["[M, N] -> { v13[m, n] -> v14[m, n] }"]}
// CHECK-NEXT: "poly.edge"() {anti = [], output = [], source = "v14", target = "v15", true = ["[M, N] -> { v14[m, n] -> v15[m, n] }"]}
// CHECK-NEXT: omp.terminator
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0) -> (d0)>
func.func @main(%arg0: tensor<?x?xf16, #tiny.dims<["M", "K"]>> {tiny.name = "X"}, %arg1: tensor<?x?xf16, #tiny.dims<["K", "N"]>> {tiny.name = "W"}, %arg2: tensor<?xf16, #tiny.dims<["N"]>> {tiny.name = "bias"}) -> (tensor<?x?xf16, #tiny.dims<["M", "N"]>> {tiny.name = "Y"}) {
  %0 = "tiny.view"(%arg0) {map = #map} : (tensor<?x?xf16, #tiny.dims<["M", "K"]>>) -> tensor<?x?xf16, #tiny.dims<["M", "K"]>>
  %1 = "tiny.view"(%arg1) {map = #map} : (tensor<?x?xf16, #tiny.dims<["K", "N"]>>) -> tensor<?x?xf16, #tiny.dims<["K", "N"]>>
  %2 = "tiny.reshape"(%0) : (tensor<?x?xf16, #tiny.dims<["M", "K"]>>) -> tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>>
  %3 = "tiny.reshape"(%1) : (tensor<?x?xf16, #tiny.dims<["K", "N"]>>) -> tensor<1x?x?xf16, #tiny.dims<[1, "K", "N"]>>
  %4 = "tiny.permute"(%3) {perm = array<i64: 0, 2, 1>} : (tensor<1x?x?xf16, #tiny.dims<[1, "K", "N"]>>) -> tensor<1x?x?xf16, #tiny.dims<[1, "N", "K"]>>
  %5 = "tiny.expand"(%2) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<?x1x?xf16, #tiny.dims<["M", 1, "K"]>>) -> tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>
  %6 = "tiny.expand"(%4) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<1x?x?xf16, #tiny.dims<[1, "N", "K"]>>) -> tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>
  %7 = "tiny.mul"(%5, %6) : (tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>, tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>) -> tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>
  %8 = "tiny.reduce"(%7) {axes = array<i64: 2>, op = "sum"} : (tensor<?x?x?xf16, #tiny.dims<["M", "N", "K"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %9 = "tiny.view"(%arg2) {map = #map1} : (tensor<?xf16, #tiny.dims<["N"]>>) -> tensor<?xf16, #tiny.dims<["N"]>>
  %10 = "tiny.reshape"(%9) : (tensor<?xf16, #tiny.dims<["N"]>>) -> tensor<1x?xf16, #tiny.dims<[1, "N"]>>
  %11 = "tiny.cast"(%10) : (tensor<1x?xf16, #tiny.dims<[1, "N"]>>) -> tensor<1x?xf32, #tiny.dims<[1, "N"]>>
  %12 = "tiny.expand"(%11) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<1x?xf32, #tiny.dims<[1, "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %13 = "tiny.add"(%8, %12) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>, tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %14 = "tiny.relu"(%13) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %15 = "tiny.cast"(%14) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf16, #tiny.dims<["M", "N"]>>
  return %15 : tensor<?x?xf16, #tiny.dims<["M", "N"]>>
}
