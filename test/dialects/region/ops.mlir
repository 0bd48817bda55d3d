// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

// A kernel reads its inputs whole, computes with Tiny ops, and yields to its outputs.
// CHECK-LABEL: "region.kernel"() ({
// CHECK: "region.read"(%{{.*}}) : (!region.memref<tensor<?x3xf16, #tiny.dims<["M", 3]>>, [3, 1], 128 : i64, true>)
// CHECK: "region.yield"(%{{.*}}, %{{.*}}) {materialize = "gmem"}
// CHECK: {sym_name = "transpose"}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<?x3xf16, #tiny.dims<["M", 3]>>, [3, 1], 128 : i64, true>, %y: !region.memref<tensor<3x?xf16, #tiny.dims<[3, "M"]>>, ["M", 1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<?x3xf16, #tiny.dims<["M", 3]>>, [3, 1], 128 : i64, true>) -> tensor<?x3xf16, #tiny.dims<["M", 3]>>
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (tensor<?x3xf16, #tiny.dims<["M", 3]>>) -> tensor<3x?xf16, #tiny.dims<[3, "M"]>>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<3x?xf16, #tiny.dims<[3, "M"]>>, !region.memref<tensor<3x?xf16, #tiny.dims<[3, "M"]>>, ["M", 1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "transpose"} : () -> ()

// The host applies the kernel to tensors.
// CHECK-LABEL: func.func @main
// CHECK: %[[K:.*]] = "region.launch"() {kernel = @transpose}
// CHECK: call_indirect %[[K]](%arg0)
func.func @main(%a: tensor<?x3xf16, #tiny.dims<["M", 3]>>) -> tensor<3x?xf16, #tiny.dims<[3, "M"]>> {
  %k = "region.launch"() {kernel = @transpose} : () -> ((tensor<?x3xf16, #tiny.dims<["M", 3]>>) -> tensor<3x?xf16, #tiny.dims<[3, "M"]>>)
  %0 = call_indirect %k(%a) : (tensor<?x3xf16, #tiny.dims<["M", 3]>>) -> tensor<3x?xf16, #tiny.dims<[3, "M"]>>
  return %0 : tensor<3x?xf16, #tiny.dims<[3, "M"]>>
}
