// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A kernel has a name.
// expected-error @+1 {{'region.kernel' needs a name in 'sym_name'}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = 3 : i64} : () -> ()

// -----

// A kernel ends in its yields.
// expected-error @+1 {{must end in a 'region.yield' for each output}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
}) {sym_name = "k"} : () -> ()

// -----

// Nothing follows a yield.
// expected-error @+1 {{must end in a 'region.yield' for each output}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
  %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
}) {sym_name = "k"} : () -> ()

// -----

// Only reads and Tiny ops stand in a kernel.
// expected-error @+1 {{may hold 'region.read' and Tiny ops only, not 'arith.constant'}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  %c = arith.constant 1 : index
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// An output is not read.
// expected-error @+1 {{reads or writes output 1 elsewhere than in its 'region.yield'}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%y) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// Yields go to the last arguments, in order.
// expected-error @+1 {{must yield to its last block arguments, each once and in their order}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %z: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// A read gives what the buffer holds.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  // expected-error @+1 {{'region.read' gives tensor<5xf32>, and the buffer holds fp32 [4]}}
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<5xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<5xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// A yield writes what the output holds.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  %1 = "tiny.cast"(%0) : (tensor<4xf32>) -> tensor<4xf16>
  // expected-error @+1 {{'region.yield' writes tensor<4xf16>, and its output holds fp32 [4]}}
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf16>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// An output is in memory or elided.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  // expected-error @+1 {{'region.yield' needs 'materialize', "gmem" or "deferred", not "registers"}}
  "region.yield"(%0, %y) {materialize = "registers"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// A buffer is dense.
// expected-error @+1 {{is not dense row-major; its strides must be [1]}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [2], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [2], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [2], 64 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [2], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// An alignment is a power of two.
// expected-error @+1 {{alignment 24 is not a power of two}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 24 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 24 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 24 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 24 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()

// -----

// A launch names a kernel.
func.func @main(%a: tensor<4xf32>) {
  // expected-error @+1 {{'region.launch' of @nowhere: there is no such kernel in the module}}
  %k = "region.launch"() {kernel = @nowhere} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  return
}

// -----

// A launch has the kernel's type.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 64 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 64 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 64 : i64, true>) -> ()
}) {sym_name = "k"} : () -> ()
func.func @main(%a: tensor<4xf32>) {
  // expected-error @+1 {{'region.launch' gives (tensor<4xf16>) -> tensor<4xf32>, and @k is a function (tensor<4xf32>) -> tensor<4xf32>}}
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<4xf16>) -> tensor<4xf32>)
  return
}
