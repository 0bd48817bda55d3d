// A plan that a region or the target cannot bear is refused at the region, all of it at once.
// RUN: tinyc-opt --region-plan=arch=sm_80 --split-input-file --verify-diagnostics %s

// The plan that a kernel carries is checked too.
!lhs = !region.memref<tensor<5x4xf32>, [4, 1], 128 : i64, true>
!rhs = !region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>
!out = !region.memref<tensor<5x3xf32>, [3, 1], 128 : i64, true>
// expected-error @+3 {{the plan of @product: 'arch' is 'sm90', and the plan is used for sm_80}}
// expected-error @+2 {{the plan of @product: 'tile' and 'stages' take 8 x (64x32 f32 + 32x64 f32) = 131072 bytes of static shared memory per CTA; sm_80 has 49152; choose a smaller tile or fewer stages}}
// expected-error @+1 {{the plan of @product: 'epilogue' is relu, and the region's epilogue is empty; a plan cannot change that: leave it out}}
"region.kernel"() ({
^bb0(%x: !lhs, %w: !rhs, %y: !out):
  %0 = "region.read"(%x) : (!lhs) -> tensor<5x4xf32>
  %1 = "region.read"(%w) : (!rhs) -> tensor<4x3xf32>
  %2 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<5x4x3xf32>
  %3 = "tiny.expand"(%1) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<4x3xf32>) -> tensor<5x4x3xf32>
  %4 = "tiny.mul"(%2, %3) : (tensor<5x4x3xf32>, tensor<5x4x3xf32>) -> tensor<5x4x3xf32>
  %5 = "tiny.reduce"(%4) {op = "sum", axes = array<i64: 1>} : (tensor<5x4x3xf32>) -> tensor<5x3xf32>
  "region.yield"(%5, %y) {materialize = "gmem"} : (tensor<5x3xf32>, !out) -> ()
  omp.terminator
}) {sym_name = "product", plan = {arch = "sm90", tile = array<i64: 64, 64, 32>, stages = 8 : i64, epilogue = ["relu"]}} : () -> ()

// -----

// So is its form.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
// expected-error @+1 {{a plan has no field "tiles"; did you mean 'tile'?}}
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "copy", plan = {tiles = 3 : i64}} : () -> ()
