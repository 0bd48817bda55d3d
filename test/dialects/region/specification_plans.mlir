// The plans of the specification, on its program: GEMM + bias + ReLU. 000 §1.7 (DSL), §7.1 (for SM80) and §12.5 (its
// values filled in), and 002 §5 with what its last sentences switch on. What a plan leaves open is not looked at.
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/section_1_7.plan' --region-to-gpu %s | filecheck %s --check-prefixes=LARGE,FOUR,SM80,GUARDED80,CHECK,BOUND
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/section_1_7.plan arch=sm_90a' --region-to-gpu=arch=sm_90a %s | filecheck %s --check-prefixes=LARGE,ONE,SM90,CHECK,BOUND
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/section_7_1.json' --region-to-gpu %s | filecheck %s --check-prefixes=LARGE,TILED,SM80,CHECK
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/section_12_5.json' --region-to-gpu %s | filecheck %s --check-prefixes=LARGE,TILED,SM80,GUARDED80,CHECK,BOUND
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/section_12_5.json arch=sm_90a' --region-to-gpu=arch=sm_90a %s | filecheck %s --check-prefixes=LARGE,TILED,SM90,CHECK,BOUND
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/next_step_of_002.json' --region-to-gpu %s | filecheck %s --check-prefixes=SMALL,SM80,GUARDED80,CHECK,BOUND
// RUN: tinyc-opt '--region-plan=plan=%S/Inputs/next_step_of_002.json arch=sm_90a' --region-to-gpu=arch=sm_90a %s | filecheck %s --check-prefixes=SMALL,SM90,CHECK,BOUND
// RUN: tinyc-opt --region-plan --remarks %s 2>&1 >/dev/null | filecheck %s --check-prefix=DEFAULT80
// RUN: tinyc-opt --region-plan=arch=sm_90a --remarks %s 2>&1 >/dev/null | filecheck %s --check-prefix=DEFAULT90
// RUN: not tinyc-opt '--region-plan=plan=%S/Inputs/section_7_1.json arch=sm_90a' %s 2>&1 | filecheck %s --check-prefix=OTHER

// tile, stages, layout_hints: shared memory has 128 × 64 × 64 twice, or 64 × 64 × 32 three times, swizzled.
// LARGE: [[A:![a-z0-9_]+]] = tensor<128x64xf16, #tgpu.swizzle<"row", 128 : i64>>
// LARGE: [[AS:![a-z0-9_]+]] = !tgpu.smem<[[A]], 2 : i64>
// LARGE: [[B:![a-z0-9_]+]] = tensor<64x64xf16, #tgpu.swizzle<"row", 128 : i64>>
// LARGE: [[BS:![a-z0-9_]+]] = !tgpu.smem<[[B]], 2 : i64>
// SMALL: [[A:![a-z0-9_]+]] = tensor<64x32xf16, #tgpu.swizzle<"row", 64 : i64>>
// SMALL: [[AS:![a-z0-9_]+]] = !tgpu.smem<[[A]], 3 : i64>
// SMALL: [[B:![a-z0-9_]+]] = tensor<32x64xf16, #tgpu.swizzle<"row", 128 : i64>>
// SMALL: [[BS:![a-z0-9_]+]] = !tgpu.smem<[[B]], 3 : i64>
// warp_tile: a warp or a warpgroup has 64 × 64 accumulators. 000 §1.7 leaves it open: it has four
// warps on SM80, and one warpgroup on SM90.
// FOUR: #tgpu.fragments<"mma", 64 : i64, 32 : i64>
// ONE: #tgpu.fragments<"wgmma", 128 : i64, 64 : i64>
// TILED: #tgpu.fragments<"{{mma|wgmma}}", 64 : i64, 64 : i64>
// bind: m.o at block.y and n.o at block.x; two warps along m. On SM90 that is the order in which CTAs take tiles.
// BOUND: bind = {m.i.o = "warp.y", m.o = "block.y", n.i.o = "warp.x", n.o = "block.x"}
// BOUND-SAME: raster = {along = "n", group = 1 : i64}
// cache: A and B.
// CHECK: %A = "tgpu.alloc_smem"() : () -> [[AS]]
// CHECK: %B = "tgpu.alloc_smem"() : () -> [[BS]]
// async, cache, pipeline: copies to both run ahead, predicate_tail: zeros beyond k, the last
// ones again beyond m and n, or within TMA's bounds.
// SM80: "tgpu.cp_async"(%A, {{.*}}bytes = 16 : i64
// GUARDED80-SAME: clamped = ["rows"]
// GUARDED80-SAME: guarded = ["columns"]
// SM80: "tgpu.cp_async"(%B, {{.*}}bytes = 16 : i64
// GUARDED80-SAME: clamped = ["columns"]
// GUARDED80-SAME: guarded = ["rows"]
// SM90: "tgpu.{{cp_async|tma_load}}"(%A,
// SM90: "tgpu.{{cp_async|tma_load}}"(%B,
// SM80: "tgpu.ldmatrix"(%A,
// SM80: "tgpu.mma_sync"
// SM90: "tgpu.wgmma"(%A, %B,
// epilogue, local_edges: on the accumulators, with no way through memory.
// CHECK: "tgpu.epilogue_slab"(
// CHECK: "tiny.add"(
// CHECK: "tiny.relu"(
// vectorize, predicate_tail: 8 elements at a time, behind guards; TMA has bounds.
// SM80: "tgpu.st_global_vec"({{.*}}width = 8 : i64
// SM90: "tgpu.{{st_global_vec|tma_store}}"(
// Without a plan tensor cores multiply, too.
// DEFAULT80: @gemm (region {{[0-9a-f]+}}) gets the default plan: mma, tile {{.*}}, simple, since it is a contraction for tensor cores [plan-default]
// DEFAULT90: @gemm (region {{[0-9a-f]+}}) gets the default plan: mma, tile {{.*}}, cooperative, since it is a contraction for tensor cores [plan-default]
// OTHER: 'arch' is 'sm80', and the plan is used for sm_90a; write sm_90a, or compile for sm80 [TC202 PlanMismatch]
!lhs = !region.memref<tensor<4000x4096xf16>, [4096, 1], 128 : i64, true>
!rhs = !region.memref<tensor<4096x4096xf16>, [4096, 1], 128 : i64, true>
!row = !region.memref<tensor<4096xf16>, [1], 128 : i64, true>
!out = !region.memref<tensor<4000x4096xf16>, [4096, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !lhs, %w: !rhs, %b: !row, %y: !out):
  %0 = "region.read"(%x) : (!lhs) -> tensor<4000x4096xf16>
  %1 = "region.read"(%w) : (!rhs) -> tensor<4096x4096xf16>
  %2 = "region.read"(%b) : (!row) -> tensor<4096xf16>
  %3 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<4000x4096xf16>) -> tensor<4000x4096x4096xf16>
  %4 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<4096x4096xf16>) -> tensor<4000x4096x4096xf16>
  %5 = "tiny.mul"(%3, %4) : (tensor<4000x4096x4096xf16>, tensor<4000x4096x4096xf16>) -> tensor<4000x4096x4096xf16>
  %6 = "tiny.reduce"(%5) {op = "sum", axes = array<i64: 1>} : (tensor<4000x4096x4096xf16>) -> tensor<4000x4096xf32>
  %7 = "tiny.cast"(%2) : (tensor<4096xf16>) -> tensor<4096xf32>
  %8 = "tiny.expand"(%7) {broadcast_dimensions = array<i64: 1>} : (tensor<4096xf32>) -> tensor<4000x4096xf32>
  %9 = "tiny.add"(%6, %8) : (tensor<4000x4096xf32>, tensor<4000x4096xf32>) -> tensor<4000x4096xf32>
  %10 = "tiny.relu"(%9) : (tensor<4000x4096xf32>) -> tensor<4000x4096xf32>
  %11 = "tiny.cast"(%10) : (tensor<4000x4096xf32>) -> tensor<4000x4096xf16>
  "region.yield"(%11, %y) {materialize = "gmem"} : (tensor<4000x4096xf16>, !out) -> ()
  omp.terminator
}) {sym_name = "gemm"} : () -> ()
func.func @main(%x: tensor<4000x4096xf16> {tiny.name = "X"}, %w: tensor<4096x4096xf16> {tiny.name = "W"}, %b: tensor<4096xf16> {tiny.name = "bias"}) -> tensor<4000x4096xf16> {
  %k = "region.launch"() {kernel = @gemm} : () -> ((tensor<4000x4096xf16>, tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<4000x4096xf16>)
  %0 = call_indirect %k(%x, %w, %b) : (tensor<4000x4096xf16>, tensor<4096x4096xf16>, tensor<4096xf16>) -> tensor<4000x4096xf16>
  return %0 : tensor<4000x4096xf16>
}
