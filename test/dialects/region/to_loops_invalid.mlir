// RUN: not tinyc-opt --region-to-loops %s 2>&1 | filecheck %s

// Only fusion may elide an output.
// CHECK: error: {{.*}}a deferred output is left over
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "deferred"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "copy"} : () -> ()
