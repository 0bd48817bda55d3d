// What cannot become a GPU kernel, and why.
// RUN: tinyc-opt --region-to-gpu --split-input-file --verify-diagnostics %s
// RUN: not tinyc-opt --region-to-gpu=arch=sm_70 %S/to_gpu_invalid.mlir --split-input-file 2>&1 | filecheck %s

// CHECK: error: 'arch' is 'sm_70', no GPU architecture; choose sm_80 or sm_90a [{{TC[0-9]+}} UnsupportedTarget]

// An output without memory is fusion's to elide.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  // expected-error @+1 {{a deferred output is left over: only fusion may elide it; materialize it in gmem [TC111 InvalidAttribute]}}
  "region.yield"(%0, %y) {materialize = "deferred"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// A reshape whose strides are symbolic says nothing about where its elements are.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<?x?xf32, #tiny.dims<["M", "N"]>>, ["N", 1], 128 : i64, true>, %y: !region.memref<tensor<?xf32, #tiny.dims<["M*N"]>>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<?x?xf32, #tiny.dims<["M", "N"]>>, ["N", 1], 128 : i64, true>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  // expected-error-re @+1 {{'tiny.reshape' has no access map: {{.*}}; read its result from a buffer [TC205 NoGpuKernel]}}
  %1 = "tiny.reshape"(%0) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?xf32, #tiny.dims<["M*N"]>>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<?xf32, #tiny.dims<["M*N"]>>, !region.memref<tensor<?xf32, #tiny.dims<["M*N"]>>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// A plan is checked again: it may be hand-written.
// expected-error @+1 {{'scheme' is 'naive_2x2_per_thread', which does not accept @k: it is not one reduction whose result is written element by element; choose elementwise or generic}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k", plan = {scheme = "naive_2x2_per_thread"}} : () -> ()

// -----

// The kernels of a module are for one architecture.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k", plan = {arch = "sm_90a"}} : () -> ()
// expected-error @+1 {{'arch' is 'sm_80', and the plan is used for sm_90a; }}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "l", plan = {arch = "sm_80"}} : () -> ()

// -----

// The launch contracts come from the GPU kernels.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()
// expected-error @+1 {{the host program is lowered already; run --region-to-gpu before --region-to-exec [TC309 InvalidIr]}}
"exec.function"() ({
^bb0:
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = 0} : () -> ()

// -----

// There is one module of kernels.
// expected-error @+1 {{the module has GPU kernels already, and regions beside them; lower all regions at once [TC309 InvalidIr]}}
gpu.module @kernels {
}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// Panels are for CPU kernels.
!buffer = !region.memref<tensor<4x16xf32>, [16, 1], 128 : i64, true>
// expected-error @+1 {{buffers of the kernel are in panels, which CPU kernels read; run --region-to-gpu without packing weights [TC205 NoGpuKernel]}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4x16xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4x16xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "pack", panels = array<i64: 1>} : () -> ()
