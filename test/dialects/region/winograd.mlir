// A convolution whose plan asks for Winograd's algorithm is five kernels; the weights are transformed once.
// RUN: tinyc-opt --tiny-to-region=target=cpu '--region-plan=arch=cpu plan="algo_choice conv winograd_3x3"' --region-winograd --split-input-file %s | filecheck %s
// RUN: tinyc-opt --tiny-to-region=target=cpu '--region-plan=arch=cpu plan="algo_choice conv winograd_3x3"' --region-winograd --region-to-exec --split-input-file %s | filecheck %s --check-prefix=EXEC

// Tiles are read from an image with zeros around it: 5 rows and 6 columns of places are 3 tiles along each axis.
// CHECK: "region.kernel"() ({
// CHECK: "tiny.pad"(%{{.*}}) {hi = array<i64: 0, 0, 2, 0>, lo = array<i64: 0, 0, 1, 0>
// CHECK: "tiny.pad"(%{{.*}}) {hi = array<i64: 0, 0, 0, 1>, lo = array<i64: 0, 0, 0, 1>
// CHECK-SAME: -> tensor<8x1x8x8xf32>
// CHECK: }) {algorithm = "winograd_3x3", plan = {{.*}}sym_name = "conv_relu_image"}
// CHECK-NOT: "tiny.pad"
// CHECK-COUNT-16: "region.yield"(%{{.*}}) {materialize = "gmem"} : (tensor<8x1x3x3xf32>
// CHECK: }) {algorithm = "winograd_3x3", plan = {{.*}}sym_name = "conv_relu_points"}
// CHECK: value = 5.000000e-01 : f32
// CHECK-COUNT-16: "region.yield"(%{{.*}}) {materialize = "gmem"} : (tensor<16x8xf32>
// CHECK: }) {algorithm = "winograd_3x3", plan = {{.*}}sym_name = "conv_relu_kernels"}
// CHECK: "tiny.reduce"(%{{.*}}) {axes = array<i64: 2>, op = "sum"} : (tensor<16x9x8xf32>) -> tensor<16x9xf32>
// CHECK: }) {algorithm = "winograd_3x3", plan = {{.*}}scheme = "cpu_contraction"{{.*}}sym_name = "conv_relu_products"}
// CHECK-COUNT-16: "region.read"(%{{.*}}) : (!t16x1x3x3_f32_memref) -> tensor<16x1x3x3xf32>
// CHECK: "tiny.relu"
// CHECK-NEXT: "region.yield"
// CHECK: }) {algorithm = "winograd_3x3", plan = {{.*}}sym_name = "conv_relu"}
// CHECK-LABEL: func.func @main
// CHECK: kernel = @conv_relu_image
// CHECK: kernel = @conv_relu_points
// CHECK: kernel = @conv_relu_kernels
// CHECK-COUNT-16: kernel = @conv_relu_products
// CHECK: kernel = @conv_relu}
// CHECK-NOT: region.launch

// EXEC: "exec.kernel"()
// EXEC-SAME: prepare
// EXEC-SAME: symbol = @conv_relu_kernels
// EXEC-NOT: prepare,
// EXEC: symbol = @conv_relu,

!x = tensor<1x8x5x6xf32>
!w = tensor<16x8x3x3xf32>
!y = tensor<1x16x5x6xf32>
!p = tensor<1x16x5x6x8x3x3xf32>
func.func @main(%x: !x {tiny.name = "x"}, %w: !w {tiny.name = "w", tiny.weight}) -> (!y {tiny.name = "y"}) {
  %0 = "tiny.pad"(%x) {hi = array<i64: 0, 0, 1, 1>, lo = array<i64: 0, 0, 1, 1>, value = 0.0 : f32} : (!x) -> tensor<1x8x7x8xf32>
  %1 = "tiny.pool"(%0) {dilation = array<i64: 1, 1>, kernel = array<i64: 3, 3>, stride = array<i64: 1, 1>} : (tensor<1x8x7x8xf32>) -> tensor<1x8x5x6x3x3xf32>
  %2 = "tiny.permute"(%1) {perm = array<i64: 0, 2, 3, 1, 4, 5>} : (tensor<1x8x5x6x3x3xf32>) -> tensor<1x5x6x8x3x3xf32>
  %3 = "tiny.expand"(%2) {broadcast_dimensions = array<i64: 0, 2, 3, 4, 5, 6>} : (tensor<1x5x6x8x3x3xf32>) -> !p
  %4 = "tiny.expand"(%w) {broadcast_dimensions = array<i64: 1, 4, 5, 6>} : (!w) -> !p
  %5 = "tiny.mul"(%3, %4) : (!p, !p) -> !p
  %6 = "tiny.reduce"(%5) {axes = array<i64: 4, 5, 6>, op = "sum"} : (!p) -> !y
  %7 = "tiny.relu"(%6) : (!y) -> !y
  return %7 : !y
}
