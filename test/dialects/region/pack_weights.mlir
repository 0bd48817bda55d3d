// Weights of products lie in panels, which a kernel of its own makes once; what changes from run to run does not.
// RUN: tinyc-opt --tiny-to-region=target=cpu --region-pack-weights --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-region=target=cpu --region-pack-weights --region-to-exec --split-input-file %s | filecheck %s --check-prefix=EXEC
// RUN: tinyc-opt --tiny-to-region=target=cpu --region-pack-weights --region-to-loops --split-input-file %s | filecheck %s --check-prefix=LOOPS
// RUN: tinyc-opt --tiny-to-region=target=cpu '--region-dot-products=cpu=x86-64-v4+amx' --region-pack-weights --split-input-file %s | filecheck %s --check-prefix=AMX
// RUN: tinyc-opt --tiny-to-region=target=cpu --region-pack-weights '--region-to-loops=cpu=x86-64-v4' --split-input-file %s | filecheck %s --check-prefix=V4

// Two layers with weights of one form share the kernel that packs, and read what it makes of each. Columns are filled
// up to whole panels, and one of zeros is behind them.
// CHECK: "region.kernel"() ({
// CHECK: %[[W:.*]] = "region.read"(%{{.*}}) : (!t40x40_f32_memref) -> tensor<40x40xf32>
// CHECK-NEXT: %[[P:.*]] = "tiny.pad"(%[[W]]) {hi = array<i64: 0, 24>, lo = array<i64: 0, 0>, value = 0.000000e+00 : f32}
// CHECK-NEXT: "region.yield"(%[[P]], %{{.*}}) {materialize = "gmem"}
// CHECK: }) {panels = array<i64: 1>, sym_name = "pack"} : () -> ()
// CHECK: "region.read"(%{{.*}}) : (!t40x64_f32_memref) -> tensor<40x64xf32>
// CHECK-NEXT: "tiny.shrink"(%{{.*}}) {hi = [40, 40], lo = [0, 0], step = array<i64: 1, 1>}
// CHECK: panels = array<i64: 1>
// CHECK-SAME: sym_name = "matmul"
// CHECK-LABEL: func.func @layers
// CHECK: call_indirect %{{.*}}(%w) : (tensor<40x40xf32>) -> tensor<40x64xf32>
// CHECK: call_indirect %{{.*}}(%x, %{{.*}}) : (tensor<64x40xf32>, tensor<40x64xf32>) -> tensor<64x40xf32>
// CHECK: call_indirect %{{.*}}(%v) : (tensor<40x40xf32>) -> tensor<40x64xf32>
// CHECK: call_indirect %{{.*}}(%{{.*}}, %{{.*}}) : (tensor<64x40xf32>, tensor<40x64xf32>) -> tensor<64x40xf32>
// CHECK-NOT: call_indirect

// EXEC: buffer = "prepared_0", kind = "prepared"
// EXEC: "exec.kernel"() {
// EXEC-SAME: prepare
// EXEC-SAME: symbol = @pack
// EXEC: "exec.kernel"() {
// EXEC-SAME: prepare
// EXEC-SAME: symbol = @pack
// EXEC: "exec.kernel"() {
// EXEC-NOT: prepare,
// EXEC-SAME: symbol = @matmul

// Neither operand is packed in a run: an element of each row is read where it lies, and vectors of columns of a panel.
// LOOPS-LABEL: func.func @pack(
// LOOPS: arith.divui %{{.*}}, %c16
// LOOPS: memref.store
// LOOPS-LABEL: func.func @matmul(%x: memref<64x40xf32>, %w: memref<40x64xf32>, %{{.*}}: memref<64x40xf32>, %low: index, %high: index)
// LOOPS-NOT: vector.store
// LOOPS: :12 = scf.for
// LOOPS-COUNT-2: vector.load
// LOOPS-COUNT-6: memref.load
// LOOPS: scf.yield
// V4-LABEL: func.func @matmul(
// V4: memref.prefetch
// V4: memref.prefetch
// V4: vector.load %{{.*}} vector<16xf32>
// V4: vector.load %{{.*}} vector<16xf32>
!p = tensor<64x40x40xf32>
func.func @layers(%x: tensor<64x40xf32> {tiny.name = "x"}, %w: tensor<40x40xf32> {tiny.name = "w", tiny.weight}, %v: tensor<40x40xf32> {tiny.name = "v", tiny.weight}) -> (tensor<64x40xf32> {tiny.name = "y"}) {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<64x40xf32>) -> !p
  %1 = "tiny.permute"(%w) {perm = array<i64: 1, 0>} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<40x40xf32>) -> !p
  %3 = "tiny.mul"(%0, %2) : (!p, !p) -> !p
  %4 = "tiny.reduce"(%3) {axes = array<i64: 2>, op = "sum"} : (!p) -> tensor<64x40xf32>
  %5 = "tiny.expand"(%4) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<64x40xf32>) -> !p
  %6 = "tiny.permute"(%v) {perm = array<i64: 1, 0>} : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %7 = "tiny.expand"(%6) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<40x40xf32>) -> !p
  %8 = "tiny.mul"(%5, %7) : (!p, !p) -> !p
  %9 = "tiny.reduce"(%8) {axes = array<i64: 2>, op = "sum"} : (!p) -> tensor<64x40xf32>
  return %9 : tensor<64x40xf32>
}

// -----

// A matrix that is given with each run stays as it is; one that has a row for each column is turned when it is packed.
// CHECK: "region.kernel"() ({
// CHECK: "tiny.permute"
// CHECK-NEXT: "tiny.pad"
// CHECK: sym_name = "pack"
// CHECK-LABEL: func.func @given
// CHECK: call_indirect %{{.*}}(%w) : (tensor<24x40xf32>) -> tensor<40x48xf32>
// CHECK: call_indirect %{{.*}}(%x, %v
// CHECK-NOT: call_indirect %{{.*}}(%v)
!q = tensor<64x24x40xf32>
func.func @given(%x: tensor<64x40xf32> {tiny.name = "x"}, %w: tensor<24x40xf32> {tiny.name = "w", tiny.weight}, %v: tensor<24x64xf32> {tiny.name = "v"}) -> (tensor<64x24xf32> {tiny.name = "y"}, tensor<40x24xf32> {tiny.name = "z"}) {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<64x40xf32>) -> !q
  %1 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<24x40xf32>) -> !q
  %2 = "tiny.mul"(%0, %1) : (!q, !q) -> !q
  %3 = "tiny.reduce"(%2) {axes = array<i64: 2>, op = "sum"} : (!q) -> tensor<64x24xf32>
  %4 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 2, 0>} : (tensor<64x40xf32>) -> tensor<40x24x64xf32>
  %5 = "tiny.expand"(%v) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<24x64xf32>) -> tensor<40x24x64xf32>
  %6 = "tiny.mul"(%4, %5) : (tensor<40x24x64xf32>, tensor<40x24x64xf32>) -> tensor<40x24x64xf32>
  %7 = "tiny.reduce"(%6) {axes = array<i64: 2>, op = "sum"} : (tensor<40x24x64xf32>) -> tensor<40x24xf32>
  return %3, %7 : tensor<64x24xf32>, tensor<40x24xf32>
}

// -----

// A launch still says whose indices its kernel checks.
// CHECK-LABEL: func.func @looked_up
// CHECK: "region.launch"() {kernel = @pack} : ()
// CHECK: "region.launch"() {kernel = @matmul, node = "rows"} : ()
!r = tensor<64x256x40xf32>
func.func @looked_up(%t: tensor<99x40xf32> {tiny.name = "t"}, %i: tensor<64xi64> {tiny.name = "i"}, %w: tensor<256x40xf32> {tiny.name = "w", tiny.weight}) -> (tensor<64x256xf32> {tiny.name = "y"}) {
  %0 = "tiny.gather"(%t, %i) {axis = 0 : i64} : (tensor<99x40xf32>, tensor<64xi64>) -> tensor<64x40xf32> loc("rows")
  %1 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<64x40xf32>) -> !r
  %2 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<256x40xf32>) -> !r
  %3 = "tiny.mul"(%1, %2) : (!r, !r) -> !r
  %4 = "tiny.reduce"(%3) {axes = array<i64: 2>, op = "sum"} : (!r) -> tensor<64x256xf32>
  return %4 : tensor<64x256xf32>
}

// -----

// Where words are multiplied, a panel has their neighbours beside each other, and zeros up to a whole step.
// AMX: "region.kernel"() ({
// AMX: %[[B:.*]] = "region.read"(%{{.*}}) : (!{{.*}}) -> tensor<70x20xi8>
// AMX-NEXT: "tiny.pad"(%[[B]]) {hi = array<i64: 58, 28>, lo = array<i64: 0, 0>, value = 0 : i8}
// AMX: }) {panel_group = 4 : i64, panels = array<i64: 1>, sym_name = "pack"} : () -> ()
// AMX: "region.read"(%{{.*}}) : (!{{.*}}) -> tensor<128x48xi8>
// AMX-NEXT: "tiny.shrink"(%{{.*}}) {hi = [70, 20], lo = [0, 0], step = array<i64: 1, 1>}
// AMX: }) {dot = "amx-int8", panel_group = 4 : i64, panels = array<i64: 1>
!s = tensor<64x20x70xi32>
func.func @bytes(%x: tensor<64x70xi8> {tiny.name = "x"}, %w: tensor<70x20xi8> {tiny.name = "w", tiny.weight}) -> (tensor<64x20xi32> {tiny.name = "y"}) {
  %0 = "tiny.cast"(%x) : (tensor<64x70xi8>) -> tensor<64x70xi32>
  %1 = "tiny.cast"(%w) : (tensor<70x20xi8>) -> tensor<70x20xi32>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<64x70xi32>) -> !s
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 2, 1>} : (tensor<70x20xi32>) -> !s
  %4 = "tiny.mul"(%2, %3) : (!s, !s) -> !s
  %5 = "tiny.reduce"(%4) {axes = array<i64: 2>, op = "sum"} : (!s) -> tensor<64x20xi32>
  return %5 : tensor<64x20xi32>
}
