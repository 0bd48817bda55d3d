// What a CPU multiplies bf16 and bytes by, where it has instructions that add the products of neighbours.
// RUN: tinyc-opt '--region-dot-products=cpu=x86-64-v4+amx' '--region-to-loops=cpu=x86-64-v4+amx' --split-input-file %s | filecheck %s --check-prefix=TILES
// RUN: tinyc-opt '--region-dot-products=cpu=x86-64-v4+amx' --split-input-file %s | filecheck %s --check-prefix=AMX
// RUN: tinyc-opt '--region-dot-products=cpu=x86-64-v4+avx512vnni+avx512bf16' --split-input-file %s | filecheck %s --check-prefix=AVX512
// RUN: tinyc-opt '--region-dot-products=cpu=x86-64-v3+avxvnni' --split-input-file %s | filecheck %s --check-prefix=AVX
// RUN: tinyc-opt '--region-dot-products=cpu=x86-64-v4' --split-input-file %s | filecheck %s --check-prefix=NONE
// RUN: tinyc-opt '--region-dot-products=cpu=x86-64-v4+amx' '--region-dot-products=cpu=x86-64-v4' --split-input-file %s | filecheck %s --check-prefix=NONE
// NONE-NOT: dot =

// Sums of products of bf16 are f32, in tiles of 16 rows and 16 columns.
// AMX: }) {dot = "amx-bf16", sym_name = "floats"}
// AVX512: }) {dot = "avx512bf16", sym_name = "floats"}
// AVX: }) {sym_name = "floats"}
// TILES-LABEL: func.func @floats
// TILES: :4 = scf.for
// TILES-COUNT-4: "llvm.x86.tdpbf16ps.internal"
// TILES: scf.yield
!a = !region.memref<tensor<32x64xbf16>, [64, 1], 128 : i64, true>
!y = !region.memref<tensor<32x32xf32>, [32, 1], 128 : i64, true>
!t = tensor<32x64xbf16>
!p = tensor<32x32x64xbf16>
"region.kernel"() ({
^bb0(%a: !a, %b: !a, %y: !y):
  %0 = "region.read"(%a) : (!a) -> !t
  %1 = "region.read"(%b) : (!a) -> !t
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 2>} : (!t) -> !p
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (!t) -> !p
  %4 = "tiny.mul"(%2, %3) : (!p, !p) -> !p
  %5 = "tiny.reduce"(%4) {axes = array<i64: 2>, op = "sum"} : (!p) -> tensor<32x32xf32>
  "region.yield"(%5, %y) {materialize = "gmem"} : (tensor<32x32xf32>, !y) -> ()
  omp.terminator
}) {sym_name = "floats"} : () -> ()

// -----

// Operands that are casts of bytes are bytes; the left ones are signed here, and the right ones are not.
// AMX: }) {dot = "amx-int8", sym_name = "bytes"}
// AVX512: }) {dot = "avx512vnni", sym_name = "bytes"}
// AVX: }) {dot = "avxvnni", sym_name = "bytes"}
// TILES-LABEL: func.func @bytes
// TILES-COUNT-4: "llvm.x86.tdpbsud.internal"
!a = !region.memref<tensor<32x64xi8>, [64, 1], 128 : i64, true>
!b = !region.memref<tensor<32x64xui8>, [64, 1], 128 : i64, true>
!y = !region.memref<tensor<32x32xi32>, [32, 1], 128 : i64, true>
!t = tensor<32x64xi32>
!p = tensor<32x32x64xi32>
"region.kernel"() ({
^bb0(%a: !a, %b: !b, %y: !y):
  %0 = "region.read"(%a) : (!a) -> tensor<32x64xi8>
  %1 = "region.read"(%b) : (!b) -> tensor<32x64xui8>
  %2 = "tiny.cast"(%0) : (tensor<32x64xi8>) -> !t
  %3 = "tiny.cast"(%1) : (tensor<32x64xui8>) -> !t
  %4 = "tiny.expand"(%2) {broadcast_dimensions = array<i64: 0, 2>} : (!t) -> !p
  %5 = "tiny.expand"(%3) {broadcast_dimensions = array<i64: 1, 2>} : (!t) -> !p
  %6 = "tiny.mul"(%4, %5) : (!p, !p) -> !p
  %7 = "tiny.reduce"(%6) {axes = array<i64: 2>, op = "sum"} : (!p) -> tensor<32x32xi32>
  "region.yield"(%7, %y) {materialize = "gmem"} : (tensor<32x32xi32>, !y) -> ()
  omp.terminator
}) {sym_name = "bytes"} : () -> ()

// -----

// A zero point that is taken off leaves numbers that no byte holds, and sums of bytes that are f32 no instruction adds.
// AMX: }) {sym_name = "offset"}
// AMX: }) {sym_name = "sums"}
// AVX512: }) {sym_name = "offset"}
// AVX512: }) {sym_name = "sums"}
!a = !region.memref<tensor<32x64xi8>, [64, 1], 128 : i64, true>
!y = !region.memref<tensor<32x32xi32>, [32, 1], 128 : i64, true>
!z = !region.memref<tensor<32x32xf32>, [32, 1], 128 : i64, true>
!n = tensor<32x64xi8>
!t = tensor<32x64xi32>
!p = tensor<32x32x64xi32>
!q = tensor<32x32x64xi8>
"region.kernel"() ({
^bb0(%a: !a, %b: !a, %y: !y):
  %0 = "region.read"(%a) : (!a) -> !n
  %1 = "region.read"(%b) : (!a) -> !n
  %2 = "tiny.cast"(%0) : (!n) -> !t
  %3 = "tiny.cast"(%1) : (!n) -> !t
  %4 = "tiny.const"() {value = 3 : i32} : () -> tensor<i32>
  %5 = "tiny.expand"(%4) {broadcast_dimensions = array<i64>} : (tensor<i32>) -> !t
  %6 = "tiny.sub"(%2, %5) : (!t, !t) -> !t
  %7 = "tiny.expand"(%6) {broadcast_dimensions = array<i64: 0, 2>} : (!t) -> !p
  %8 = "tiny.expand"(%3) {broadcast_dimensions = array<i64: 1, 2>} : (!t) -> !p
  %9 = "tiny.mul"(%7, %8) : (!p, !p) -> !p
  %10 = "tiny.reduce"(%9) {axes = array<i64: 2>, op = "sum"} : (!p) -> tensor<32x32xi32>
  "region.yield"(%10, %y) {materialize = "gmem"} : (tensor<32x32xi32>, !y) -> ()
  omp.terminator
}) {sym_name = "offset"} : () -> ()
"region.kernel"() ({
^bb0(%a: !a, %b: !a, %z: !z):
  %0 = "region.read"(%a) : (!a) -> !n
  %1 = "region.read"(%b) : (!a) -> !n
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 2>} : (!n) -> !q
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (!n) -> !q
  %4 = "tiny.mul"(%2, %3) : (!q, !q) -> !q
  %5 = "tiny.reduce"(%4) {axes = array<i64: 2>, op = "sum"} : (!q) -> tensor<32x32xf32>
  "region.yield"(%5, %z) {materialize = "gmem"} : (tensor<32x32xf32>, !z) -> ()
  omp.terminator
}) {sym_name = "sums"} : () -> ()
