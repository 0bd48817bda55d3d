// A kernel has an alternative for each set of sizes that has one of its symbols; the launch contract has its guards.
// RUN: tinyc-opt --region-specialize="sizes='M=8,N=3;M=8;N=3'" %s | filecheck %s
// RUN: tinyc-opt --region-specialize="sizes='M=8;N=3'" --region-to-exec %s | filecheck %s --check-prefix=EXEC
// RUN: tinyc-opt --region-specialize="sizes='M=8;N=3'" --region-to-gpu --region-to-exec %s | filecheck %s --check-prefix=GPU
// RUN: tinyc-opt --region-specialize="sizes='M=8;M<=64'" %s | filecheck %s --check-prefix=CLASS
// RUN: tinyc-opt --region-specialize="sizes='M<=64'" --region-to-gpu --region-to-exec %s | filecheck %s --check-prefix=CLASSGPU
// RUN: tinyc-opt --region-specialize %s | filecheck %s --check-prefix=NONE

!b = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!c = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
!t = tensor<?xf32, #tiny.dims<["M"]>>
!n = tensor<?xf32, #tiny.dims<["N"]>>
"region.kernel"() ({ ^bb0(%x: !b, %y: !b):
  %0 = "region.read"(%x) : (!b) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !b) -> ()
  omp.terminator }) {sym_name = "copy"} : () -> ()
"region.kernel"() ({ ^bb0(%x: !c, %y: !c):
  %0 = "region.read"(%x) : (!c) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !c) -> ()
  omp.terminator }) {sym_name = "fixed"} : () -> ()
func.func @main(%x: !t {tiny.name = "x"}, %c: tensor<4xf32> {tiny.name = "c"}, %n: !n {tiny.name = "n"})
    -> (!t {tiny.name = "y"}, tensor<4xf32> {tiny.name = "z"}) {
  %k = "region.launch"() {kernel = @copy} : () -> ((!t) -> !t)
  %0 = call_indirect %k(%x) : (!t) -> !t
  %f = "region.launch"() {kernel = @fixed} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %1 = call_indirect %f(%c) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : !t, tensor<4xf32>
}

// CHECK: sym_name = "copy"}
// CHECK: sizes = {M = 8 : i64}, sym_name = "copy_M8"
// CHECK-NOT: sizes =
// CHECK: alternatives = [@copy_M8], kernel = @copy
// CHECK: {kernel = @fixed}

// EXEC: exec.alternatives = [{block = [1, 1, 1]{{.*}}guards = {{\[\[}}"M", "eq", 8{{\]\]}}, parameters = [#exec.ptr<"input_0", tensor<8xf32>>, #exec.ptr<"output_0", tensor<8xf32>>], symbol = @copy_M8}]
// EXEC-NOT: exec.alternatives

// GPU: gpu.func @copy_M8({{.*}}tgpu.sizes = {M = 8 : i64}
// GPU: exec.alternatives = [{block = [{{.*}}symbol = @copy_M8}]

// NONE-NOT: alternatives

// CLASS: guards = {{\[\[}}"M", "le", 64]], sym_name = "copy_Mle64"
// CLASS: sizes = {M = 8 : i64}, sym_name = "copy_M8"
// CLASS: alternatives = [@copy_M8, @copy_Mle64], kernel = @copy

// CLASSGPU: gpu.func @copy_Mle64({{.*}}tgpu.guards = {{\[\[}}"M", "le", 64]]
// CLASSGPU: exec.alternatives = [{block = [{{.*}}guards = {{\[\[}}"M", "le", 64]]{{.*}}symbol = @copy_Mle64}]
