// Each region becomes a GPU kernel: a matrix product over tiles, or one thread for each element.
// RUN: tinyc-opt --stock-printing --tiny-to-region --region-to-gpu --split-input-file %s | filecheck %s
// RUN: tinyc-opt --stock-printing --tiny-to-region --region-to-gpu --split-input-file --remarks %s 2>&1 >/dev/null | filecheck %s --check-prefix=REMARK

// A matrix product with its epilogue, all extents symbolic: block ids give the tile of the output, a loop over k fills a
// circular buffer of two stages for each operand, every side is guarded. The buffers are called as in the host function,
// which stays.
// A region without a plan gets the default one, and a remark says so.
// REMARK: remark: @matmul_add_relu (region {{[0-9a-f]+}}) gets the default plan: naive_2x2_per_thread, tile 64 × 64 × 32, stages 2, {{.*}} [plan-default]
// CHECK-LABEL: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">]
// CHECK: gpu.func @matmul_add_relu(%[[X:[a-z0-9]+]]: {{.*}} {tgpu.name = "X"}, %[[W:[a-z0-9]+]]: {{.*}} {tgpu.name = "W"}, %[[B:[a-z0-9]+]]: {{.*}} {tgpu.name = "bias"}, %[[Y:[a-z0-9]+]]: {{.*}} {tgpu.name = "Y"}, %[[M:[a-z0-9]+]]: index {tgpu.extent = "M"}, %[[K:[a-z0-9]+]]: index {tgpu.extent = "K"}, %[[N:[a-z0-9]+]]: index {tgpu.extent = "N"}) kernel
// CHECK-SAME: known_block_size = array<i32: 16, 16, 1>, tgpu.grid = ["(N - 1) floordiv 64 + 1", "(M - 1) floordiv 64 + 1", 1]
// CHECK-SAME: scheme = "naive_2x2_per_thread", stages = 2 : i64, tile = array<i64: 64, 64, 32>
// CHECK: %[[BX:.*]] = gpu.block_id x
// CHECK: %[[BY:.*]] = gpu.block_id y
// CHECK: %[[BZ:.*]] = gpu.block_id z
// CHECK: %[[M0:.*]] = arith.muli %[[BY]], %c64
// CHECK: %[[N0:.*]] = arith.muli %[[BX]], %c64
// CHECK: %[[A:.*]] = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<64x32xf32>, 2 : i64>
// CHECK: %[[BT:.*]] = "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<32x64xf32>, 2 : i64>
// CHECK: %[[ZERO:.*]] = "tgpu.zero"() : () -> !tgpu.acc<tensor<64x64xf32>>
// CHECK: %[[SUMS:.*]] = scf.for %[[STEP:.*]] = %c0 to %[[K]] step %c32 iter_args(%[[ACC:.*]] = %[[ZERO]])
// CHECK: %[[NUMBER:.*]] = arith.divui %[[STEP]], %c32
// CHECK: %[[SLOT:.*]] = arith.remui %[[NUMBER]], %c2
// CHECK: "tgpu.load_tile"(%[[A]], %[[SLOT]], %[[BZ]], %[[M0]], %[[STEP]])
// CHECK-NEXT: "region.read"(%[[X]])
// CHECK-NEXT: "tiny.expand"
// CHECK-NEXT: "tgpu.yield"
// CHECK: {batches = array<i64>, columns = array<i64: 1>, guarded = ["rows", "columns"], rows = array<i64: 0>}
// CHECK: "tgpu.load_tile"(%[[BT]], %[[SLOT]], %[[BZ]], %[[STEP]], %[[N0]])
// CHECK-NEXT: "region.read"(%[[W]])
// CHECK: {batches = array<i64>, columns = array<i64: 2>, guarded = ["rows", "columns"], rows = array<i64: 1>}
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: %[[NEXT:.*]] = "tgpu.fma"(%[[A]], %[[BT]], %[[SLOT]], %[[ACC]])
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK: "tgpu.epilogue"(%[[SUMS]], %[[BZ]], %[[M0]], %[[N0]])
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: tensor<?x?xf32, #tiny.dims<["M", "N"]>>):
// CHECK-NEXT: "region.read"(%[[B]])
// CHECK-NEXT: %[[BIAS:.*]] = "tiny.expand"
// CHECK-NEXT: %[[BIASED:.*]] = "tiny.add"(%[[SUM]], %[[BIAS]])
// CHECK-NEXT: %[[RESULT:.*]] = "tiny.relu"(%[[BIASED]])
// CHECK-NEXT: "region.yield"(%[[RESULT]], %[[Y]])
// CHECK: {batches = array<i64>, columns = array<i64: 1>, guarded = ["rows", "columns"], kinds = ["column"], rows = array<i64: 0>}
// CHECK-NEXT: gpu.return
// CHECK: func.func @main
// CHECK: "region.launch"() {kernel = @matmul_add_relu}
func.func @main(%x: tensor<?x?xf32, #tiny.dims<["M", "K"]>> {tiny.name = "X"}, %w: tensor<?x?xf32, #tiny.dims<["K", "N"]>> {tiny.name = "W"}, %b: tensor<?xf32, #tiny.dims<["N"]>> {tiny.name = "bias"}) -> (tensor<?x?xf32, #tiny.dims<["M", "N"]>> {tiny.name = "Y"}) {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "K", "N"]>>
  %1 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<?x?xf32, #tiny.dims<["K", "N"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "K", "N"]>>
  %2 = "tiny.mul"(%0, %1) : (tensor<?x?x?xf32, #tiny.dims<["M", "K", "N"]>>, tensor<?x?x?xf32, #tiny.dims<["M", "K", "N"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "K", "N"]>>
  %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 1>} : (tensor<?x?x?xf32, #tiny.dims<["M", "K", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %4 = "tiny.expand"(%b) {broadcast_dimensions = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %5 = "tiny.add"(%3, %4) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>, tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %6 = "tiny.relu"(%5) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  return %6 : tensor<?x?xf32, #tiny.dims<["M", "N"]>>
}

// -----

// A convolution is the same kernel: m are the images and positions, k the channels and the window. Its window and its
// pad are in the body that loads the left tile, and nowhere else.
// CHECK-LABEL: gpu.func @conv
// CHECK-SAME: tgpu.grid = [1, "(5*N - 1) floordiv 64 + 1", 1]
// CHECK: scf.for %{{.*}} = %c0 to %c18
// CHECK: "tgpu.load_tile"
// CHECK-NEXT: "region.read"
// CHECK-NEXT: "tiny.pad"
// CHECK-NEXT: "tiny.pool"
// CHECK-NEXT: "tiny.expand"
// CHECK-NEXT: "tgpu.yield"
// CHECK: {batches = array<i64>, columns = array<i64: 2, 4>, guarded = ["rows", "columns"], rows = array<i64: 0, 3>}
// CHECK: "tgpu.load_tile"
// CHECK-NEXT: "region.read"
// CHECK-NEXT: "tiny.expand"
// CHECK-NEXT: "tgpu.yield"
// CHECK: {batches = array<i64>, columns = array<i64: 1>, guarded = ["rows", "columns"], rows = array<i64: 2, 4>}
// CHECK: "tgpu.epilogue"
// CHECK: {batches = array<i64>, columns = array<i64: 1>, guarded = ["rows", "columns"], kinds = [], rows = array<i64: 0, 2>}
func.func @main(%x: tensor<?x6x5xf32, #tiny.dims<["N", 6, 5]>>, %w: tensor<4x6x3xf32>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>> {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 0, 1>, hi = array<i64: 0, 0, 1>, value = 0.0 : f32} : (tensor<?x6x5xf32, #tiny.dims<["N", 6, 5]>>) -> tensor<?x6x7xf32, #tiny.dims<["N", 6, 7]>>
  %1 = "tiny.pool"(%0) {kernel = array<i64: 3>, stride = array<i64: 1>, dilation = array<i64: 1>} : (tensor<?x6x7xf32, #tiny.dims<["N", 6, 7]>>) -> tensor<?x6x5x3xf32, #tiny.dims<["N", 6, 5, 3]>>
  %2 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 0, 2, 3, 4>} : (tensor<?x6x5x3xf32, #tiny.dims<["N", 6, 5, 3]>>) -> tensor<?x4x6x5x3xf32, #tiny.dims<["N", 4, 6, 5, 3]>>
  %3 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 1, 2, 4>} : (tensor<4x6x3xf32>) -> tensor<?x4x6x5x3xf32, #tiny.dims<["N", 4, 6, 5, 3]>>
  %4 = "tiny.mul"(%2, %3) : (tensor<?x4x6x5x3xf32, #tiny.dims<["N", 4, 6, 5, 3]>>, tensor<?x4x6x5x3xf32, #tiny.dims<["N", 4, 6, 5, 3]>>) -> tensor<?x4x6x5x3xf32, #tiny.dims<["N", 4, 6, 5, 3]>>
  %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 2, 4>} : (tensor<?x4x6x5x3xf32, #tiny.dims<["N", 4, 6, 5, 3]>>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
  return %5 : tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
}

// -----

// A batched product has its batches along z, where they are one number. Tiles that divide their extents are not guarded.
// CHECK-LABEL: gpu.func @matmul
// CHECK-SAME: tgpu.grid = [2, 1, "6*B"]
// CHECK: "tgpu.load_tile"
// CHECK: {batches = array<i64: 0, 1>, columns = array<i64: 3>, guarded = [], rows = array<i64: 2>}
// CHECK: {batches = array<i64: 0, 1>, columns = array<i64: 4>, guarded = [], rows = array<i64: 3>}
// CHECK: {batches = array<i64: 0, 1>, columns = array<i64: 3>, guarded = [], kinds = [], rows = array<i64: 2>}
func.func @main(%x: tensor<?x6x64x32xi32, #tiny.dims<["B", 6, 64, 32]>>, %w: tensor<?x6x32x128xi32, #tiny.dims<["B", 6, 32, 128]>>) -> tensor<?x6x64x128xi32, #tiny.dims<["B", 6, 64, 128]>> {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 1, 2, 3>} : (tensor<?x6x64x32xi32, #tiny.dims<["B", 6, 64, 32]>>) -> tensor<?x6x64x32x128xi32, #tiny.dims<["B", 6, 64, 32, 128]>>
  %1 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 0, 1, 3, 4>} : (tensor<?x6x32x128xi32, #tiny.dims<["B", 6, 32, 128]>>) -> tensor<?x6x64x32x128xi32, #tiny.dims<["B", 6, 64, 32, 128]>>
  %2 = "tiny.mul"(%0, %1) : (tensor<?x6x64x32x128xi32, #tiny.dims<["B", 6, 64, 32, 128]>>, tensor<?x6x64x32x128xi32, #tiny.dims<["B", 6, 64, 32, 128]>>) -> tensor<?x6x64x32x128xi32, #tiny.dims<["B", 6, 64, 32, 128]>>
  %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 3>} : (tensor<?x6x64x32x128xi32, #tiny.dims<["B", 6, 64, 32, 128]>>) -> tensor<?x6x64x128xi32, #tiny.dims<["B", 6, 64, 128]>>
  return %3 : tensor<?x6x64x128xi32, #tiny.dims<["B", 6, 64, 128]>>
}

// -----

// A sum over no elements is zero: the loop has no step, and the epilogue writes.
// CHECK-LABEL: gpu.func @matmul
// CHECK: %[[ZERO:.*]] = "tgpu.zero"
// CHECK: %[[SUMS:.*]] = scf.for %{{.*}} = %c0 to %c0{{(_[0-9]+)?}} step %c32 iter_args(%{{.*}} = %[[ZERO]])
// CHECK: "tgpu.epilogue"(%[[SUMS]]
func.func @main(%x: tensor<3x0xf32>, %w: tensor<0x5xf32>) -> tensor<3x5xf32> {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<3x0xf32>) -> tensor<3x0x5xf32>
  %1 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<0x5xf32>) -> tensor<3x0x5xf32>
  %2 = "tiny.mul"(%0, %1) : (tensor<3x0x5xf32>, tensor<3x0x5xf32>) -> tensor<3x0x5xf32>
  %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 1>} : (tensor<3x0x5xf32>) -> tensor<3x5xf32>
  return %3 : tensor<3x5xf32>
}

// -----

// A region without reductions is one statement with the region's body; each thread has some neighbours.
// CHECK-LABEL: gpu.func @elementwise_neg
// CHECK-SAME: {tgpu.name = "arg0"}, %{{.*}} {tgpu.name = "result0"}, %{{.*}}: index {tgpu.extent = "M"}) kernel
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["(3*M - 1) floordiv 2048 + 1", 1, 1], tgpu.plan = {arch = "sm_80", precision = "ieee", scheme = "elementwise", vectorize = {axis = "n", width = 8 : i64}}
// CHECK-NEXT: "tgpu.map_runs"() ({
// CHECK-NEXT: "region.read"
// CHECK-NEXT: "tiny.permute"
// CHECK-NEXT: "tiny.neg"
// CHECK-NEXT: "region.yield"
// CHECK: {width = 8 : i64}
// CHECK: gpu.return
func.func @main(%x: tensor<?x3xbf16, #tiny.dims<["M", 3]>>) -> tensor<3x?xbf16, #tiny.dims<[3, "M"]>> {
  %0 = "tiny.permute"(%x) {perm = array<i64: 1, 0>} : (tensor<?x3xbf16, #tiny.dims<["M", 3]>>) -> tensor<3x?xbf16, #tiny.dims<[3, "M"]>>
  %1 = "tiny.neg"(%0) : (tensor<3x?xbf16, #tiny.dims<[3, "M"]>>) -> tensor<3x?xbf16, #tiny.dims<[3, "M"]>>
  return %1 : tensor<3x?xbf16, #tiny.dims<[3, "M"]>>
}

// -----

// Where both sides are long enough, squares are turned in shared memory.
// CHECK-LABEL: gpu.func @elementwise_neg
// CHECK-SAME: tgpu.grid = ["(M - 1) floordiv 64 + 1", 1, 1]
// CHECK-NEXT: "tgpu.transpose"() ({
// CHECK: {tile = 64 : i64, width = 1 : i64}
func.func @main(%x: tensor<?x48xbf16, #tiny.dims<["M", 48]>>) -> tensor<48x?xbf16, #tiny.dims<[48, "M"]>> {
  %0 = "tiny.permute"(%x) {perm = array<i64: 1, 0>} : (tensor<?x48xbf16, #tiny.dims<["M", 48]>>) -> tensor<48x?xbf16, #tiny.dims<[48, "M"]>>
  %1 = "tiny.neg"(%0) : (tensor<48x?xbf16, #tiny.dims<[48, "M"]>>) -> tensor<48x?xbf16, #tiny.dims<[48, "M"]>>
  return %1 : tensor<48x?xbf16, #tiny.dims<[48, "M"]>>
}

// -----

// Rows that are reduced are shared by lanes of a warp; the columns of a sum over rows by threads below each other. These
// are few, and CTAs take parts of them: one kernel gives a partial sum of each part, a second one adds these up, with what
// is behind the last whole part.
// CHECK-LABEL: gpu.func @reduce_max
// CHECK-SAME: known_block_size = array<i32: 8, 32, 1>, tgpu.grid = ["(M - 1) floordiv 32 + 1", 1, 1]
// CHECK-NEXT: "tgpu.reduce_rows"() ({
// CHECK: {lanes = "x", unrolled = true, width = 8 : i64}
// CHECK-LABEL: gpu.func @reduce_sum_parts
// CHECK-SAME: known_block_size = array<i32: 8, 32, 1>, tgpu.grid = ["M floordiv 512", 1, 1]
// CHECK-NEXT: "tgpu.reduce_rows"() ({
// CHECK: %[[WHOLE:.*]] = "tiny.shrink"(%{{.*}}) {hi = ["512*(M floordiv 512)", 64], lo = [0, 0]
// CHECK: %[[PARTS:.*]] = "tiny.reshape"(%[[WHOLE]]) : {{.*}} -> tensor<?x512x64xf16, #tiny.dims<["M floordiv 512", 512, 64]>>
// CHECK: "tiny.reduce"(%[[PARTS]]) {axes = array<i64: 1>, op = "sum"} : {{.*}} -> tensor<?x64xf32
// CHECK: {lanes = "y", unrolled = false, width = 8 : i64}
// CHECK-LABEL: gpu.func @reduce_sum(
// CHECK-SAME: tgpu.grid = [2, 1, 1]
// CHECK: %[[SUM:.*]] = "tiny.reduce"(%{{.*}}) {axes = array<i64: 0>, op = "sum"} : (tensor<?x64xf32, {{.*}}>>) -> tensor<64xf32>
// CHECK: %[[REST:.*]] = "tiny.shrink"(%{{.*}}) {hi = ["M", 64], lo = ["512*(M floordiv 512)", 0]
// CHECK: %[[LAST:.*]] = "tiny.reduce"(%[[REST]]) {axes = array<i64: 0>, op = "sum"} : {{.*}} -> tensor<64xf32>
// CHECK: %[[TOTAL:.*]] = "tiny.add"(%[[SUM]], %[[LAST]])
// CHECK: "tiny.cast"(%[[TOTAL]])
// CHECK: call_indirect %{{.*}}(%[[X:.*]]) : {{.*}} -> tensor<?x64xf32
// CHECK: "region.launch"() {kernel = @reduce_sum}
func.func @main(%x: tensor<?x64xf16, #tiny.dims<["M", 64]>>) -> (tensor<?xf16, #tiny.dims<["M"]>>, tensor<64xf16>) {
  %0 = "tiny.reduce"(%x) {op = "max", axes = array<i64: 1>} : (tensor<?x64xf16, #tiny.dims<["M", 64]>>) -> tensor<?xf16, #tiny.dims<["M"]>>
  %1 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 0>} : (tensor<?x64xf16, #tiny.dims<["M", 64]>>) -> tensor<64xf16>
  return %0, %1 : tensor<?xf16, #tiny.dims<["M"]>>, tensor<64xf16>
}

// -----

// A cumulative sum is walked by lanes of a warp, too.
// CHECK-LABEL: gpu.func @reduce_sum
// CHECK-SAME: known_block_size = array<i32: 4, 64, 1>
// CHECK-NEXT: "tgpu.scan_rows"() ({
// CHECK: {lanes = "x", width = 4 : i64}
func.func @main(%x: tensor<?x16xf32, #tiny.dims<["M", 16]>>) -> tensor<?x16xf32, #tiny.dims<["M", 16]>> {
  %0 = "tiny.pad"(%x) {lo = array<i64: 0, 15>, hi = array<i64: 0, 0>, value = 0.0 : f32} : (tensor<?x16xf32, #tiny.dims<["M", 16]>>) -> tensor<?x31xf32, #tiny.dims<["M", 31]>>
  %1 = "tiny.pool"(%0) {kernel = array<i64: 16>, stride = array<i64: 1>, dilation = array<i64: 1>} : (tensor<?x31xf32, #tiny.dims<["M", 31]>>) -> tensor<?x16x16xf32, #tiny.dims<["M", 16, 16]>>
  %2 = "tiny.reduce"(%1) {op = "sum", axes = array<i64: 2>} : (tensor<?x16x16xf32, #tiny.dims<["M", 16, 16]>>) -> tensor<?x16xf32, #tiny.dims<["M", 16]>>
  return %2 : tensor<?x16xf32, #tiny.dims<["M", 16]>>
}

// -----

// Top-k has one thread for each lane; both outputs are written.
// CHECK-LABEL: gpu.func @topk
// CHECK-SAME: tgpu.grid = [2, 1, 1]
// CHECK-NEXT: "tgpu.topk"() ({
// CHECK: "tiny.topk"
// CHECK-NEXT: "region.yield"
// CHECK-NEXT: "region.yield"
func.func @main(%x: tensor<300x9xf16>) -> (tensor<300x2xf16>, tensor<300x2xi64>) {
  %0:2 = "tiny.topk"(%x) {axis = 1 : i64, k = 2 : i64, largest = true} : (tensor<300x9xf16>) -> (tensor<300x2xf16>, tensor<300x2xi64>)
  return %0#0, %0#1 : tensor<300x2xf16>, tensor<300x2xi64>
}

// -----

// Indices from data are checked: the kernel has a status buffer.
// CHECK-LABEL: gpu.func @gather
// CHECK-SAME: %{{[a-z0-9]+}}: memref<36xi64, #gpu.address_space<global>> {tgpu.status}, %{{.*}}: index {tgpu.extent = "N"}) kernel
// CHECK: "tgpu.map_runs"
// CHECK: "tiny.gather"
func.func @main(%x: tensor<?xf32, #tiny.dims<["N"]>>, %i: tensor<4xi64>) -> tensor<4xf32> {
  %0 = "tiny.gather"(%x, %i) {axis = 0 : i64} : (tensor<?xf32, #tiny.dims<["N"]>>, tensor<4xi64>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A scatter that adds is two kernels with the same arguments: one copies the data, without the updates; the other, which
// names it, adds. The threads share the output's elements in the one, the updates in the other.
// CHECK-LABEL: gpu.func @scatter_init
// CHECK-SAME: tgpu.grid = [36, 1, 1]
// CHECK-NEXT: "tgpu.map"() ({
// CHECK-NEXT: %[[D:.*]] = "region.read"
// CHECK-NEXT: "region.yield"(%[[D]], %{{.*}}) {materialize = "gmem"}
// CHECK-LABEL: gpu.func @scatter(
// CHECK-SAME: tgpu.grid = [3, 1, 1], tgpu.init = @scatter_init
// CHECK-NEXT: "tgpu.scatter_add"() ({
// CHECK: "tiny.scatter"
// CHECK-NEXT: "region.yield"
func.func @main(%x: tensor<900x10xf32>, %i: tensor<64xi32>, %u: tensor<64x10xf32>) -> tensor<900x10xf32> {
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "add"} : (tensor<900x10xf32>, tensor<64xi32>, tensor<64x10xf32>) -> tensor<900x10xf32>
  return %0 : tensor<900x10xf32>
}

// -----

// A scatter that puts is one kernel: each element of the output looks for the last update that it gets.
// CHECK-LABEL: gpu.func @scatter(
// CHECK-NOT: tgpu.init
// CHECK: "tgpu.map"
// CHECK: "tiny.scatter"
func.func @main(%x: tensor<9xi1>, %i: tensor<2xi32>, %u: tensor<2xi1>) -> tensor<9xi1> {
  %0 = "tiny.scatter"(%x, %i, %u) {axis = 0 : i64, op = "set"} : (tensor<9xi1>, tensor<2xi32>, tensor<2xi1>) -> tensor<9xi1>
  return %0 : tensor<9xi1>
}

// -----

// A region's own plan is used, for the architecture that it names: with one stage, the tiles must be read before they
// are filled again; m runs along x where the plan says so. Names that are none in PTX are changed, in the launch too.
// REMARK-NOT: @my kernel (region {{[0-9a-f]+}}) gets the default plan
// CHECK-LABEL: gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">]
// CHECK: gpu.func @my_kernel({{.*}} {tgpu.name = "A_in_"}, {{.*}} {tgpu.name = "n0"}, {{.*}} {tgpu.name = "A_in__1"}) kernel
// CHECK-SAME: tgpu.grid = [3, 4, 1], tgpu.plan = {algo_choice = {matmul = "implicit_gemm"}, arch = "sm90"
// CHECK: %[[BX:.*]] = gpu.block_id x
// CHECK: arith.muli %[[BX]], %c32
// CHECK: "tgpu.alloc_smem"() : () -> !tgpu.smem<tensor<32x16xf32>, 1 : i64>
// CHECK: gpu.barrier
// CHECK: "tgpu.fma"
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: scf.yield
// CHECK: "region.launch"() {kernel = @my_kernel}
"region.kernel"() ({
^bb0(%a: !region.memref<tensor<70x16xf32>, [16, 1], 128 : i64, true>, %b: !region.memref<tensor<16x200xf32>, [200, 1], 128 : i64, true>, %y: !region.memref<tensor<70x200xf32>, [200, 1], 128 : i64, true>):
  %0 = "region.read"(%a) : (!region.memref<tensor<70x16xf32>, [16, 1], 128 : i64, true>) -> tensor<70x16xf32>
  %1 = "region.read"(%b) : (!region.memref<tensor<16x200xf32>, [200, 1], 128 : i64, true>) -> tensor<16x200xf32>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<70x16xf32>) -> tensor<70x16x200xf32>
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<16x200xf32>) -> tensor<70x16x200xf32>
  %4 = "tiny.mul"(%2, %3) : (tensor<70x16x200xf32>, tensor<70x16x200xf32>) -> tensor<70x16x200xf32>
  %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 1>} : (tensor<70x16x200xf32>) -> tensor<70x200xf32>
  "region.yield"(%5, %y) {materialize = "gmem"} : (tensor<70x200xf32>, !region.memref<tensor<70x200xf32>, [200, 1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "my kernel", plan = {arch = "sm90", tile = [32, 64, 16], stages = 1 : i64, bind = {m.o = "block.x", n.o = "block.y"}}} : () -> ()
func.func @main(%a: tensor<70x16xf32> {tiny.name = "A(in)"}, %b: tensor<16x200xf32> {tiny.name = "0"}) -> (tensor<70x200xf32> {tiny.name = "A,in,"}) {
  %k = "region.launch"() {kernel = @"my kernel"} : () -> ((tensor<70x16xf32>, tensor<16x200xf32>) -> tensor<70x200xf32>)
  %0 = call_indirect %k(%a, %b) : (tensor<70x16xf32>, tensor<16x200xf32>) -> tensor<70x200xf32>
  return %0 : tensor<70x200xf32>
}

// -----

// What nothing needs is gone before anything is decided.
// CHECK-LABEL: gpu.func @copy
// CHECK-NOT: tiny.neg
// CHECK: gpu.return
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xf32>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> tensor<4xf32>
  %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "copy"} : () -> ()

// -----

// A module without kernels stays as it is.
// CHECK-LABEL: module {
// CHECK-NEXT: func.func @nothing()
func.func @nothing() {
  return
}
