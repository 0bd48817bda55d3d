// Each region gets the decisions that its GPU kernel is built by: those that are given, or the default ones.
// RUN: tinyc-opt --region-plan --split-input-file %s | filecheck %s
// RUN: tinyc-opt --region-plan=arch=sm_90a --split-input-file --remarks %s 2>&1 | filecheck %s --check-prefix=SM90
// RUN: tinyc-opt --region-plan='plan="set tile = [32, 64, 8]; bind m.o block.x"' --split-input-file --remarks %s 2>&1 | filecheck %s --check-prefix=GIVEN
// RUN: tinyc-opt --region-plan --region-plan --split-input-file %s | filecheck %s

// A contraction is tiled: 64 × 64 × 32, two stages, and a guard where the tile may not divide the extent.
// CHECK: plan = {algo_choice = {matmul = "implicit_gemm"}, arch = "sm_80", async = {enable = false},
// CHECK-SAME: bind = {m.o = "block.y", n.o = "block.x"},
// CHECK-SAME: cache = [{at = "k.i", tensor = "X", where = "smem"}, {at = "k.i", tensor = "W", where = "smem"}],
// CHECK-SAME: epilogue = ["relu"], local_edges = [{buffer = "reg", from = "sum_k", to = "relu"}], precision = "ieee", predicate_tail = ["n"], scheme = "naive_2x2_per_thread",
// CHECK-SAME: stages = 2 : i64, tile = array<i64: 64, 64, 32>}, sym_name = "product"}
// SM90: remark: @product (region {{[0-9a-f]+}}) gets the default plan: naive_2x2_per_thread, tile 64 × 64 × 32, stages 2, since it is a contraction [plan-default]
// SM90: plan = {algo_choice = {matmul = "implicit_gemm"}, arch = "sm_90a"
// GIVEN: remark: @product (region {{[0-9a-f]+}}) has the plan that was given: naive_2x2_per_thread, tile 32 × 64 × 8, stages 2 [plan-given]
// GIVEN: bind = {m.o = "block.x", n.o = "block.y"}
// GIVEN-SAME: tile = array<i64: 32, 64, 8>
!lhs = !region.memref<tensor<?x32xf32, #tiny.dims<["64*T", 32]>>, [32, 1], 128 : i64, true>
!rhs = !region.memref<tensor<32x70xf32>, [70, 1], 128 : i64, true>
!out = !region.memref<tensor<?x70xf32, #tiny.dims<["64*T", 70]>>, [70, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !lhs, %w: !rhs, %y: !out):
  %0 = "region.read"(%x) : (!lhs) -> tensor<?x32xf32, #tiny.dims<["64*T", 32]>>
  %1 = "region.read"(%w) : (!rhs) -> tensor<32x70xf32>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<?x32xf32, #tiny.dims<["64*T", 32]>>) -> tensor<?x32x70xf32, #tiny.dims<["64*T", 32, 70]>>
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<32x70xf32>) -> tensor<?x32x70xf32, #tiny.dims<["64*T", 32, 70]>>
  %4 = "tiny.mul"(%2, %3) : (tensor<?x32x70xf32, #tiny.dims<["64*T", 32, 70]>>, tensor<?x32x70xf32, #tiny.dims<["64*T", 32, 70]>>) -> tensor<?x32x70xf32, #tiny.dims<["64*T", 32, 70]>>
  %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 1>} : (tensor<?x32x70xf32, #tiny.dims<["64*T", 32, 70]>>) -> tensor<?x70xf32, #tiny.dims<["64*T", 70]>>
  %6 = "tiny.relu"(%5) : (tensor<?x70xf32, #tiny.dims<["64*T", 70]>>) -> tensor<?x70xf32, #tiny.dims<["64*T", 70]>>
  "region.yield"(%6, %y) {materialize = "gmem"} : (tensor<?x70xf32, #tiny.dims<["64*T", 70]>>, !out) -> ()
  omp.terminator
}) {sym_name = "product"} : () -> ()
func.func @main(%x: tensor<?x32xf32, #tiny.dims<["64*T", 32]>> {tiny.name = "X"}, %w: tensor<32x70xf32> {tiny.name = "W"}) -> (tensor<?x70xf32, #tiny.dims<["64*T", 70]>> {tiny.name = "Y"}) {
  %k = "region.launch"() {kernel = @product} : () -> ((tensor<?x32xf32, #tiny.dims<["64*T", 32]>>, tensor<32x70xf32>) -> tensor<?x70xf32, #tiny.dims<["64*T", 70]>>)
  %0 = call_indirect %k(%x, %w) : (tensor<?x32xf32, #tiny.dims<["64*T", 32]>>, tensor<32x70xf32>) -> tensor<?x70xf32, #tiny.dims<["64*T", 70]>>
  return %0 : tensor<?x70xf32, #tiny.dims<["64*T", 70]>>
}

// The scheme of the given plan does not fit a region beside it, which gets the default.
// CHECK: {plan = {arch = "sm_80", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 4 : i64}}, sym_name = "negation"}
// SM90: {plan = {arch = "sm_90a", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 4 : i64}}, sym_name = "negation"}
// GIVEN: {plan = {arch = "sm_80", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 4 : i64}}, sym_name = "negation"}
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "negation"} : () -> ()

// -----

// A function that is no kernel gets none.
// CHECK-LABEL: func.func @other
// CHECK-NOT: plan
func.func @other() {
  return
}
