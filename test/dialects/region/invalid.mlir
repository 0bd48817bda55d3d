// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// A kernel has a name.
// expected-error @+1 {{'region.kernel' needs a name in 'sym_name'}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = 3 : i64} : () -> ()

// -----

// A kernel ends in its yields.
// expected-error @+1 {{must end in a 'region.yield' for each output}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// Nothing follows a yield.
// expected-error @+1 {{must end in a 'region.yield' for each output}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// Only reads and Tiny ops stand in a kernel.
// expected-error @+1 {{may hold 'region.read' and Tiny ops only, not 'arith.constant'}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  %c = arith.constant 1 : index
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// An output is not read.
// expected-error @+1 {{reads or writes output 1 elsewhere than in its 'region.yield'; only yield to it}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%y) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// Yields go to the last arguments, in order.
// expected-error @+1 {{must yield to its last block arguments, each once and in their order}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %z: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// A read gives what the buffer holds.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  // expected-error @+1 {{'region.read' gives tensor<5xf32>, and the buffer holds tensor<4xf32>; give that type}}
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<5xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<5xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// A yield writes what the output holds.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  %1 = "tiny.cast"(%0) : (tensor<4xf32>) -> tensor<4xf16>
  // expected-error @+1 {{'region.yield' writes tensor<4xf16>, and its output holds tensor<4xf32>; give both one type}}
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf16>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// An output is in memory or elided.
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  // expected-error @+1 {{'region.yield' needs 'materialize', "gmem" or "deferred", not "registers"}}
  "region.yield"(%0, %y) {materialize = "registers"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// A buffer is dense.
// expected-error @+1 {{is not dense row-major; its strides must be [1]}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [2], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [2], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [2], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [2], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// An alignment is a power of two.
// expected-error @+1 {{alignment 24 is not a power of two}}
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 24 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 24 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 24 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 24 : i64, true>) -> ()
  omp.terminator
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
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()
func.func @main(%a: tensor<4xf32>) {
  // expected-error @+1 {{'region.launch' gives (tensor<4xf16>) -> tensor<4xf32>, and @k is a function (tensor<4xf32>) -> tensor<4xf32>}}
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<4xf16>) -> tensor<4xf32>)
  return
}

// -----

// An op that writes its results as it goes is all that its kernel computes.
!data = !region.memref<tensor<6xf32>, [1], 128 : i64, true>
!index = !region.memref<tensor<2xi32>, [1], 128 : i64, true>
!updates = !region.memref<tensor<2xf32>, [1], 128 : i64, true>
// expected-error @+1 {{has 'tiny.scatter' beside other results; it must be all that is yielded, once}}
"region.kernel"() ({
^bb0(%d: !data, %i: !index, %u: !updates, %y: !data):
  %0 = "region.read"(%d) : (!data) -> tensor<6xf32>
  %1 = "region.read"(%i) : (!index) -> tensor<2xi32>
  %2 = "region.read"(%u) : (!updates) -> tensor<2xf32>
  %3 = "tiny.scatter"(%0, %1, %2) {axis = 0 : i64, op = "set"} : (tensor<6xf32>, tensor<2xi32>, tensor<2xf32>) -> tensor<6xf32>
  %4 = "tiny.neg"(%3) : (tensor<6xf32>) -> tensor<6xf32>
  "region.yield"(%4, %y) {materialize = "gmem"} : (tensor<6xf32>, !data) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// A search yields its indices: it works in their buffer.
!data = !region.memref<tensor<6xf32>, [1], 128 : i64, true>
!best = !region.memref<tensor<2xf32>, [1], 128 : i64, true>
// expected-error @+1 {{has 'tiny.topk' whose indices are not yielded; yield them: it works in their buffer}}
"region.kernel"() ({
^bb0(%x: !data, %y: !best):
  %0 = "region.read"(%x) : (!data) -> tensor<6xf32>
  %1:2 = "tiny.topk"(%0) {axis = 0 : i64, k = 2 : i64, largest = true} : (tensor<6xf32>) -> (tensor<2xf32>, tensor<2xi64>)
  "region.yield"(%1#0, %y) {materialize = "gmem"} : (tensor<2xf32>, !best) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()

// -----

// The host states what its kernels rely on.
!in = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!out = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !in, %y: !out):
  %0 = "region.read"(%x) : (!in) -> tensor<?xf32, #tiny.dims<["M"]>>
  %1 = "tiny.shrink"(%0) {lo = [0], hi = [4], step = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !out) -> ()
  omp.terminator
}) {sym_name = "k"} : () -> ()
func.func @main(%a: tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<4xf32> {
  // expected-error @+1 {{'region.launch': 'tiny.shrink' in the kernel relies on 4 <= M, which nothing states}}
  %k = "region.launch"() {kernel = @k} : () -> ((tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<4xf32>)
  %0 = call_indirect %k(%a) : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A plan is one.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' 'stages' is 9; give an integer in 1 … 8}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", plan = {stages = 9 : i64}} : () -> ()

// -----

// The algorithm of several kernels is one that a plan may ask for; bounds of errors are derived from it.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' has 'algorithm' "winograd_5x5"; of several kernels is "winograd_3x3" alone: write that, or leave it out}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", algorithm = "winograd_5x5"} : () -> ()

// -----

// What a kernel multiplies by is a feature of a CPU.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' has 'dot' "sse2"; write one of amx-int8, avx512vnni, avxvnniint8, avxvnni, amx-bf16, avx512bf16, or leave it out}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", dot = "sse2"} : () -> ()

// -----

// Panels are those of a matrix with whole ones.
!buffer = !region.memref<tensor<4x8xf32>, [8, 1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' has 'panels' array<i64: 1>; buffer 1 is not a matrix with a multiple of 16 columns}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4x8xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4x8xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", panels = array<i64: 1>} : () -> ()

// -----

// They are numbers of buffers.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' has 'panels' 1 : i64; write the numbers of buffers, array<i64: 1>}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", panels = 1 : i64} : () -> ()

// -----

// A word has two or four neighbours.
!buffer = !region.memref<tensor<4x16xi8>, [16, 1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' has 'panel_group' 3 : i64; beside 'panels' write 2 or 4, or leave it out}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4x16xi8>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4x16xi8>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", panels = array<i64: 1>, panel_group = 3 : i64} : () -> ()

// -----

// And all of them are there.
!buffer = !region.memref<tensor<6x16xi8>, [16, 1], 128 : i64, true>
// expected-error @+1 {{'region.kernel' has 'panel_group' 4 : i64; buffer 1 is not a matrix with a multiple of 4 rows}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<6x16xi8>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<6x16xi8>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", panels = array<i64: 1>, panel_group = 4 : i64} : () -> ()

// -----

// Who reads words takes them as they are written.
!buffer = !region.memref<tensor<4x16xi8>, [16, 1], 128 : i64, true>
!t = tensor<4x16xi8>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !buffer) -> ()
  omp.terminator
}) {sym_name = "pack", panels = array<i64: 1>, panel_group = 4 : i64} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", panels = array<i64: 0>} : () -> ()
func.func @main(%a: !t) -> !t {
  %k = "region.launch"() {kernel = @pack} : () -> ((!t) -> !t)
  %c = "region.launch"() {kernel = @copy} : () -> ((!t) -> !t)
  %0 = call_indirect %k(%a) : (!t) -> !t
  // expected-error @+1 {{'func.call_indirect' takes operand 0 in panels, and it is in panels of words of 4}}
  %1 = call_indirect %c(%0) : (!t) -> !t
  return %1 : !t
}

// -----

// What one kernel writes in panels others read in panels.
!buffer = !region.memref<tensor<4x16xf32>, [16, 1], 128 : i64, true>
!t = tensor<4x16xf32>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !buffer) -> ()
  omp.terminator
}) {sym_name = "pack", panels = array<i64: 1>} : () -> ()
func.func @main(%a: !t) -> !t {
  %k = "region.launch"() {kernel = @pack} : () -> ((!t) -> !t)
  %0 = call_indirect %k(%a) : (!t) -> !t
  // expected-error @+1 {{'func.call_indirect' takes operand 0 row by row, and it is in panels}}
  %1 = call_indirect %k(%0) : (!t) -> !t
  // expected-error @+1 {{'func.return' takes operand 0 row by row, and it is in panels}}
  return %1 : !t
}

// -----

// So does an alternative.
!wide = !region.memref<tensor<?x16xf32, #tiny.dims<["M", 16]>>, [16, 1], 128 : i64, true>
!eight = !region.memref<tensor<8x16xf32>, [16, 1], 128 : i64, true>
!t = tensor<?x16xf32, #tiny.dims<["M", 16]>>
"region.kernel"() ({
^bb0(%x: !wide, %y: !wide):
  %0 = "region.read"(%x) : (!wide) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !wide) -> ()
  omp.terminator
}) {sym_name = "copy", panels = array<i64: 0, 1>} : () -> ()
"region.kernel"() ({
^bb0(%x: !eight, %y: !eight):
  %0 = "region.read"(%x) : (!eight) -> tensor<8x16xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<8x16xf32>, !eight) -> ()
  omp.terminator
}) {sym_name = "copy8", sizes = {M = 8 : i64}} : () -> ()
func.func @main(%a: !t) -> !t {
  // expected-error @+1 {{'region.launch' has the alternative @copy8, whose buffers are in another order than those of @copy; give both the same 'panels'}}
  %k = "region.launch"() {kernel = @copy, alternatives = [@copy8]} : () -> ((!t) -> !t)
  // expected-error @+1 {{'func.call_indirect' takes operand 0 in panels, and it is row by row}}
  %0 = call_indirect %k(%a) : (!t) -> !t
  // expected-error @+1 {{'func.return' takes operand 0 row by row, and it is in panels}}
  return %0 : !t
}
