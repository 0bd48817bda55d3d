// RUN: tinyc-opt --tiny-to-index-book --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-index-book --split-input-file --verify-roundtrip %s -o /dev/null

// Specification 001, section 5.1: GEMM with symbolic M, N, K.
// CHECK-DAG: #[[MAP0:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0, d2)>
// CHECK-DAG: #[[MAP1:.*]] = affine_map<(d0, d1)[s0, s1] -> (d1, d0)>
// CHECK-DAG: #[[MAP2:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d1, d2)>
// CHECK-DAG: #[[MAP3:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, 0, d2)>
// CHECK-DAG: #[[MAP4:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (0, d1, d2)>
// CHECK-DAG: #[[MAP5:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d1, d2)>
// CHECK-DAG: #[[MAP6:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
// CHECK: "index_book.table"() ({
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter"], labels = ["m", "k"], maps = [], reduce_axes = array<i64>, sizes = ["M", "K"], {{.*}}value = "A"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter"], labels = ["k", "n"], maps = [], reduce_axes = array<i64>, sizes = ["K", "N"], {{.*}}value = "B"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["A"], kinds = ["iter", "broadcast", "iter"], labels = ["m", "", "k"], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["M", 1, "K"], {{.*}}value = "v0"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["B"], kinds = ["iter", "iter"], labels = ["n", "k"], maps = [#[[MAP1]]], reduce_axes = array<i64>, sizes = ["N", "K"], {{.*}}value = "v1"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v1"], kinds = ["broadcast", "iter", "iter"], labels = ["", "n", "k"], maps = [#[[MAP2]]], reduce_axes = array<i64>, sizes = [1, "N", "K"], {{.*}}value = "v2"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v0"], kinds = ["iter", "broadcast", "iter"], labels = ["m", "n", "k"], maps = [#[[MAP3]]], reduce_axes = array<i64>, sizes = ["M", "N", "K"], {{.*}}value = "v3"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v2"], kinds = ["broadcast", "iter", "iter"], labels = ["m", "n", "k"], maps = [#[[MAP4]]], reduce_axes = array<i64>, sizes = ["M", "N", "K"], {{.*}}value = "v4"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v3", "v4"], kinds = ["iter", "iter", "iter"], labels = ["m", "n", "k"], maps = [#[[MAP5]], #[[MAP5]]], reduce_axes = array<i64>, sizes = ["M", "N", "K"], {{.*}}value = "v5"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v5"], kinds = ["iter", "iter", "reduce"], labels = ["m", "n", "k"], maps = [#[[MAP5]]], reduce_axes = array<i64: 2>, sizes = ["M", "N", "K"], {{.*}}value = "v6"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v6"], kinds = ["iter", "iter"], labels = ["m", "n"], maps = [#[[MAP6]]], reduce_axes = array<i64>, sizes = ["M", "N"], {{.*}}value = "v7"
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
// CHECK-DAG: #[[MAP0:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3, s4] -> (d0, d1, d2, d3 - 1, d4 - 1)>
// CHECK-DAG: #[[MAP1:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6)[s0, s1, s2, s3, s4] -> (d0, d1, d2, d3 * 2 + d5, d4 * 2 + d6)>
// CHECK-DAG: #[[MAP2:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0, s1, s2, s3, s4] -> (d0, d1, d2, d4, d5, d6, d7)>
// CHECK-DAG: #[[MAP3:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0, s1, s2, s3, s4, s5] -> (d0, d1, d2, 0, d4, d5, d6, d7)>
// CHECK-DAG: #[[MAP4:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0, s1, s2, s3, s4, s5] -> (d0, d1, d5, d2, d3, d4, d6, d7)>
// CHECK-DAG: #[[MAP5:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2] -> (d0, d1, d2, d3, d4)>
// CHECK-DAG: #[[MAP6:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0, s1, s2] -> (d1, d2, d5, d6, d7)>
// CHECK-DAG: #[[MAP7:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0, s1, s2, s3, s4, s5] -> (0, d1, d2, 0, 0, d5, d6, d7)>
// CHECK-DAG: #[[MAP8:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7)[s0, s1, s2, s3, s4, s5] -> (d0, d1, d2, d3, d4, d5, d6, d7)>
// CHECK-DAG: #[[MAP9:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3, s4] -> (d0, d1, d2, d3, d4)>
// CHECK-DAG: #[[MAP10:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1] -> (d1, d2)>
// CHECK-DAG: #[[MAP11:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1] -> (0, d1, d2, 0, 0)>
// CHECK-DAG: #[[MAP12:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3, s4] -> (0, d1, d2, 0, 0)>
// CHECK: "index_book.table"() ({
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "cin", "h", "w"], maps = [], reduce_axes = array<i64>, sizes = ["N", "G", "Cin", "H", "W"], {{.*}}value = "X"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["g", "rcout", "cin", "", ""], maps = [], reduce_axes = array<i64>, sizes = ["G", "Rcout", "Cin", 3, 3], {{.*}}value = "W"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter"], labels = ["g", "rcout"], maps = [], reduce_axes = array<i64>, sizes = ["G", "Rcout"], {{.*}}value = "bias"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["X"], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "cin", "", ""], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["N", "G", "Cin", "H + 2", "W + 2"], {{.*}}value = "v0"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v0"], kinds = ["iter", "iter", "iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "cin", "", "", "", ""], maps = [#[[MAP1]]], reduce_axes = array<i64>, sizes = ["N", "G", "Cin", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3], {{.*}}value = "v1"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v1"], kinds = ["iter", "iter", "iter", "broadcast", "iter", "iter", "iter", "iter"], labels = ["n", "g", "cin", "", "", "", "", ""], maps = [#[[MAP2]]], reduce_axes = array<i64>, sizes = ["N", "G", "Cin", 1, "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3], {{.*}}value = "v2"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v2"], kinds = ["iter", "iter", "iter", "broadcast", "iter", "iter", "iter", "iter"], labels = ["n", "g", "cin", "rcout", "", "", "", ""], maps = [#[[MAP3]]], reduce_axes = array<i64>, sizes = ["N", "G", "Cin", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", 3, 3], {{.*}}value = "v3"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v3"], kinds = ["iter", "iter", "iter", "iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "rcout", "", "", "cin", "", ""], maps = [#[[MAP4]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3], {{.*}}value = "v4"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["W"], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["g", "rcout", "cin", "", ""], maps = [#[[MAP5]]], reduce_axes = array<i64>, sizes = ["G", "Rcout", "Cin", 3, 3], {{.*}}value = "v5"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v5"], kinds = ["broadcast", "iter", "iter", "broadcast", "broadcast", "iter", "iter", "iter"], labels = ["", "g", "rcout", "", "", "cin", "", ""], maps = [#[[MAP6]]], reduce_axes = array<i64>, sizes = [1, "G", "Rcout", 1, 1, "Cin", 3, 3], {{.*}}value = "v6"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v6"], kinds = ["broadcast", "iter", "iter", "broadcast", "broadcast", "iter", "iter", "iter"], labels = ["n", "g", "rcout", "", "", "cin", "", ""], maps = [#[[MAP7]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3], {{.*}}value = "v7"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v4", "v7"], kinds = ["iter", "iter", "iter", "iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "rcout", "", "", "cin", "", ""], maps = [#[[MAP8]], #[[MAP8]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3], {{.*}}value = "v8"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v8"], kinds = ["iter", "iter", "iter", "iter", "iter", "reduce", "reduce", "reduce"], labels = ["n", "g", "rcout", "", "", "cin", "", ""], maps = [#[[MAP8]]], reduce_axes = array<i64: 5, 6, 7>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1", "Cin", 3, 3], {{.*}}value = "v9"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v9"], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "rcout", "", ""], maps = [#[[MAP9]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"], {{.*}}value = "v10"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["bias"], kinds = ["broadcast", "iter", "iter", "broadcast", "broadcast"], labels = ["", "g", "rcout", "", ""], maps = [#[[MAP10]]], reduce_axes = array<i64>, sizes = [1, "G", "Rcout", 1, 1], {{.*}}value = "v11"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v11"], kinds = ["broadcast", "iter", "iter", "broadcast", "broadcast"], labels = ["", "g", "rcout", "", ""], maps = [#[[MAP11]]], reduce_axes = array<i64>, sizes = [1, "G", "Rcout", 1, 1], {{.*}}value = "v12"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v12"], kinds = ["broadcast", "iter", "iter", "broadcast", "broadcast"], labels = ["n", "g", "rcout", "", ""], maps = [#[[MAP12]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"], {{.*}}value = "v13"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v10", "v13"], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "rcout", "", ""], maps = [#[[MAP9]], #[[MAP9]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"], {{.*}}value = "v14"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v14"], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["n", "g", "rcout", "", ""], maps = [#[[MAP9]]], reduce_axes = array<i64>, sizes = ["N", "G", "Rcout", "(H - 1) floordiv 2 + 1", "(W - 1) floordiv 2 + 1"], {{.*}}value = "v15"
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
// CHECK-DAG: #[[MAP0:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3] -> (d0, d1, d2, d4)>
// CHECK-DAG: #[[MAP1:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3] -> (d0, d1, d3, d4)>
// CHECK-DAG: #[[MAP2:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3, s4] -> (d0, d1, d2, 0, d4)>
// CHECK-DAG: #[[MAP3:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3, s4] -> (d0, d1, 0, d3, d4)>
// CHECK-DAG: #[[MAP4:.*]] = affine_map<(d0, d1, d2, d3, d4)[s0, s1, s2, s3, s4] -> (d0, d1, d2, d3, d4)>
// CHECK-DAG: #[[MAP5:.*]] = affine_map<(d0, d1, d2, d3)[s0, s1, s2, s3] -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[MAP6:.*]] = affine_map<(d0, d1, d2, d3)[s0, s1, s2] -> (d0, d1, d2)>
// CHECK-DAG: #[[MAP7:.*]] = affine_map<(d0, d1, d2, d3)[s0, s1, s2, s3] -> (d0, d1, d2, 0)>
// CHECK: "index_book.table"() ({
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "d"], maps = [], reduce_axes = array<i64>, sizes = ["B", "H", "M", "D"], {{.*}}value = "Q"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "n", "d"], maps = [], reduce_axes = array<i64>, sizes = ["B", "H", "N", "D"], {{.*}}value = "K"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["Q"], kinds = ["iter", "iter", "iter", "broadcast", "iter"], labels = ["b", "h", "m", "", "d"], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", 1, "D"], {{.*}}value = "v0"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["K"], kinds = ["iter", "iter", "broadcast", "iter", "iter"], labels = ["b", "h", "", "n", "d"], maps = [#[[MAP1]]], reduce_axes = array<i64>, sizes = ["B", "H", 1, "N", "D"], {{.*}}value = "v1"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v0"], kinds = ["iter", "iter", "iter", "broadcast", "iter"], labels = ["b", "h", "m", "n", "d"], maps = [#[[MAP2]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N", "D"], {{.*}}value = "v2"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v1"], kinds = ["iter", "iter", "broadcast", "iter", "iter"], labels = ["b", "h", "m", "n", "d"], maps = [#[[MAP3]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N", "D"], {{.*}}value = "v3"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v2", "v3"], kinds = ["iter", "iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n", "d"], maps = [#[[MAP4]], #[[MAP4]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N", "D"], {{.*}}value = "v4"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v4"], kinds = ["iter", "iter", "iter", "iter", "reduce"], labels = ["b", "h", "m", "n", "d"], maps = [#[[MAP4]]], reduce_axes = array<i64: 4>, sizes = ["B", "H", "M", "N", "D"], {{.*}}value = "v5"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v5"], kinds = ["iter", "iter", "iter", "reduce"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]]], reduce_axes = array<i64: 3>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v6"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v6"], kinds = ["iter", "iter", "iter", "broadcast"], labels = ["b", "h", "m", ""], maps = [#[[MAP6]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", 1], {{.*}}value = "v7"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v7"], kinds = ["iter", "iter", "iter", "broadcast"], labels = ["b", "h", "m", "n"], maps = [#[[MAP7]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v8"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v5", "v8"], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]], #[[MAP5]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v9"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n"], maps = [], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v10"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v9", "v10"], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]], #[[MAP5]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v11"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v11"], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v12"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v12"], kinds = ["iter", "iter", "iter", "reduce"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]]], reduce_axes = array<i64: 3>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v13"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v13"], kinds = ["iter", "iter", "iter", "broadcast"], labels = ["b", "h", "m", ""], maps = [#[[MAP6]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", 1], {{.*}}value = "v14"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v14"], kinds = ["iter", "iter", "iter", "broadcast"], labels = ["b", "h", "m", "n"], maps = [#[[MAP7]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v15"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v12", "v15"], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]], #[[MAP5]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v16"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v16"], kinds = ["iter", "iter", "iter", "iter"], labels = ["b", "h", "m", "n"], maps = [#[[MAP5]]], reduce_axes = array<i64>, sizes = ["B", "H", "M", "N"], {{.*}}value = "v17"
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
// CHECK-DAG: #[[MAP0:.*]] = affine_map<(d0, d1)[s0, s1] -> (d0, d1)>
// CHECK-DAG: #[[MAP1:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d0, d2)>
// CHECK-DAG: #[[MAP2:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (d1, d2)>
// CHECK-DAG: #[[MAP3:.*]] = affine_map<(d0, d1, d2)[s0, s1] -> (0, d2, d1)>
// CHECK-DAG: #[[MAP4:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, 0, d2)>
// CHECK-DAG: #[[MAP5:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (0, d1, d2)>
// CHECK-DAG: #[[MAP6:.*]] = affine_map<(d0, d1, d2)[s0, s1, s2] -> (d0, d1, d2)>
// CHECK-DAG: #[[MAP7:.*]] = affine_map<(d0)[s0] -> (d0)>
// CHECK-DAG: #[[MAP8:.*]] = affine_map<(d0, d1)[s0] -> (d1)>
// CHECK-DAG: #[[MAP9:.*]] = affine_map<(d0, d1)[s0] -> (0, d1)>
// CHECK-DAG: #[[MAP10:.*]] = affine_map<(d0, d1)[s0, s1] -> (0, d1)>
// CHECK: "index_book.table"() ({
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter"], labels = ["m", "k"], maps = [], reduce_axes = array<i64>, sizes = ["M", "K"], {{.*}}value = "X"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter", "iter"], labels = ["k", "n"], maps = [], reduce_axes = array<i64>, sizes = ["K", "N"], {{.*}}value = "W"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = [], kinds = ["iter"], labels = ["n"], maps = [], reduce_axes = array<i64>, sizes = ["N"], {{.*}}value = "bias"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["X"], kinds = ["iter", "iter"], labels = ["m", "k"], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["M", "K"], {{.*}}value = "v0"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["W"], kinds = ["iter", "iter"], labels = ["k", "n"], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["K", "N"], {{.*}}value = "v1"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v0"], kinds = ["iter", "broadcast", "iter"], labels = ["m", "", "k"], maps = [#[[MAP1]]], reduce_axes = array<i64>, sizes = ["M", 1, "K"], {{.*}}value = "v2"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v1"], kinds = ["broadcast", "iter", "iter"], labels = ["", "k", "n"], maps = [#[[MAP2]]], reduce_axes = array<i64>, sizes = [1, "K", "N"], {{.*}}value = "v3"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v3"], kinds = ["broadcast", "iter", "iter"], labels = ["", "n", "k"], maps = [#[[MAP3]]], reduce_axes = array<i64>, sizes = [1, "N", "K"], {{.*}}value = "v4"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v2"], kinds = ["iter", "broadcast", "iter"], labels = ["m", "n", "k"], maps = [#[[MAP4]]], reduce_axes = array<i64>, sizes = ["M", "N", "K"], {{.*}}value = "v5"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v4"], kinds = ["broadcast", "iter", "iter"], labels = ["m", "n", "k"], maps = [#[[MAP5]]], reduce_axes = array<i64>, sizes = ["M", "N", "K"], {{.*}}value = "v6"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v5", "v6"], kinds = ["iter", "iter", "iter"], labels = ["m", "n", "k"], maps = [#[[MAP6]], #[[MAP6]]], reduce_axes = array<i64>, sizes = ["M", "N", "K"], {{.*}}value = "v7"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v7"], kinds = ["iter", "iter", "reduce"], labels = ["m", "n", "k"], maps = [#[[MAP6]]], reduce_axes = array<i64: 2>, sizes = ["M", "N", "K"], {{.*}}value = "v8"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["bias"], kinds = ["iter"], labels = ["n"], maps = [#[[MAP7]]], reduce_axes = array<i64>, sizes = ["N"], {{.*}}value = "v9"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v9"], kinds = ["broadcast", "iter"], labels = ["", "n"], maps = [#[[MAP8]]], reduce_axes = array<i64>, sizes = [1, "N"], {{.*}}value = "v10"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v10"], kinds = ["broadcast", "iter"], labels = ["", "n"], maps = [#[[MAP9]]], reduce_axes = array<i64>, sizes = [1, "N"], {{.*}}value = "v11"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v11"], kinds = ["broadcast", "iter"], labels = ["m", "n"], maps = [#[[MAP10]]], reduce_axes = array<i64>, sizes = ["M", "N"], {{.*}}value = "v12"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v8", "v12"], kinds = ["iter", "iter"], labels = ["m", "n"], maps = [#[[MAP0]], #[[MAP0]]], reduce_axes = array<i64>, sizes = ["M", "N"], {{.*}}value = "v13"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v13"], kinds = ["iter", "iter"], labels = ["m", "n"], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["M", "N"], {{.*}}value = "v14"
// CHECK-NEXT: "index_book.entry"() {{.*}}inputs = ["v14"], kinds = ["iter", "iter"], labels = ["m", "n"], maps = [#[[MAP0]]], reduce_axes = array<i64>, sizes = ["M", "N"], {{.*}}value = "v15"
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

// -----

// A remainder, which MLIR writes as mod, has its guard in the domain (000 §1.3); so has the division beside it.
// CHECK: affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>
// CHECK: affine_set<(d0) : (d0 >= 0, -d0 + 11 >= 0, d0 mod 4 >= 0, -d0 + (d0 floordiv 4) * 4 + 3 >= 0)>
func.func @main(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %0 = "tiny.reshape"(%x) : (tensor<3x4xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
