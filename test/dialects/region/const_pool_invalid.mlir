// RUN: tinyc-opt --region-to-exec --split-input-file --verify-diagnostics %s

// The extents of a weight are numbers.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>, %y: !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>) -> tensor<?xf32, #tiny.dims<["M"]>>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<?xf32, #tiny.dims<["M"]>>, !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "copy"} : () -> ()
// expected-error @unknown {{'w' is declared a weight, and has symbolic extents, fp32 [M]; bind them, or leave it an input [TC114 InvalidExtent]}}
func.func @main(%w: tensor<?xf32, #tiny.dims<["M"]>> {tiny.name = "w", tiny.weight}) -> tensor<?xf32, #tiny.dims<["M"]>> {
  %k = "region.launch"() {kernel = @copy} : () -> ((tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>)
  %0 = call_indirect %k(%w) : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
  return %0 : tensor<?xf32, #tiny.dims<["M"]>>
}

// -----

// A tensor constant is passed to a kernel: it is not in one.
// expected-error @below {{'region.kernel' has a tensor constant, which lies in memory; leave it in the host function and pass it}}
"region.kernel"() ({
^bb0(%y: !region.memref<tensor<2xf32>, [1], 128 : i64, true>):
  %0 = "tiny.const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<2xf32>, !region.memref<tensor<2xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "two"} : () -> ()
