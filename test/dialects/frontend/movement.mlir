// Movements survive printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @movements
func.func @movements(%x: tensor<4x6xf32>, %v: tensor<f32>) {
  // CHECK: "frontend.movement"(%{{.*}}) {kind = "reshape", shape = [24]}
  %0 = "frontend.movement"(%x) {kind = "reshape", shape = [24]} : (tensor<4x6xf32>) -> tensor<24xf32>
  // CHECK: {kind = "permute", perm = array<i64: 1, 0>}
  %1 = "frontend.movement"(%x) {kind = "permute", perm = array<i64: 1, 0>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  // CHECK: {kind = "expand", shape = [3, 4, 6]}
  %2 = "frontend.movement"(%x) {kind = "expand", shape = [3, 4, 6]} : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
  // CHECK: {hi = [4, 5], kind = "slice", lo = [1, 0], step = array<i64: 1, -2>}
  %3 = "frontend.movement"(%x) {hi = [4, 5], kind = "slice", lo = [1, 0], step = array<i64: 1, -2>} : (tensor<4x6xf32>) -> tensor<3x3xf32>
  // CHECK: {axes = array<i64: 1>, kind = "flip"}
  %4 = "frontend.movement"(%x) {axes = array<i64: 1>, kind = "flip"} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: {axes = array<i64: 1>, kind = "roll", shifts = array<i64: 2>}
  %5 = "frontend.movement"(%x) {axes = array<i64: 1>, kind = "roll", shifts = array<i64: 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: {kind = "tile", repeats = [2, 1]}
  %6 = "frontend.movement"(%x) {kind = "tile", repeats = [2, 1]} : (tensor<4x6xf32>) -> tensor<8x6xf32>
  // CHECK: "frontend.movement"(%{{.*}}, %{{.*}}) {after = [0, 1], before = [1, 0], kind = "pad"}
  %7 = "frontend.movement"(%x, %v) {after = [0, 1], before = [1, 0], kind = "pad"} : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x7xf32>
  // CHECK: "frontend.movement"(%{{.*}}) {after = [0, 1], before = [1, 0], kind = "pad", mode = "edge"}
  %8 = "frontend.movement"(%x) {after = [0, 1], before = [1, 0], kind = "pad", mode = "edge"} : (tensor<4x6xf32>) -> tensor<5x7xf32>
  return
}

// CHECK-LABEL: func.func @made_of_several
func.func @made_of_several(%x: tensor<4x6xf32>, %y: tensor<?x6xf32, #tiny.dims<["M", 6]>>, %k: tensor<i64>) {
  // CHECK: "frontend.concat"(%{{.*}}, %{{.*}}) {axis = 0 : i64}
  %0 = "frontend.concat"(%x, %y) {axis = 0 : i64} : (tensor<4x6xf32>, tensor<?x6xf32, #tiny.dims<["M", 6]>>) -> tensor<?x6xf32, #tiny.dims<["M + 4", 6]>>
  // CHECK: "frontend.trilu"(%{{.*}}, %{{.*}}) {upper = false}
  %1 = "frontend.trilu"(%x, %k) {upper = false} : (tensor<4x6xf32>, tensor<i64>) -> tensor<4x6xf32>
  // CHECK: "frontend.trilu"(%{{.*}})
  %2 = "frontend.trilu"(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: "frontend.arange"(%{{.*}}, %{{.*}}) {shape = ["M"]}
  %3 = "frontend.arange"(%k, %k) {shape = ["M"]} : (tensor<i64>, tensor<i64>) -> tensor<?xi64, #tiny.dims<["M"]>>
  // CHECK: "frontend.eye"() {element = i8, k = -1 : i64, shape = [3, "M"]}
  %4 = "frontend.eye"() {element = i8, k = -1 : i64, shape = [3, "M"]} : () -> tensor<3x?xi8, #tiny.dims<[3, "M"]>>
  // CHECK: "frontend.extents"() {dims = [3, "M"]}
  %5 = "frontend.extents"() {dims = [3, "M"]} : () -> tensor<2xi64>
  // CHECK: "frontend.cast"(%{{.*}}) {element = f16}
  %6 = "frontend.cast"(%x) {element = f16} : (tensor<4x6xf32>) -> tensor<4x6xf16>
  return
}
