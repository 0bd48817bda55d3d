// Norms; a layer norm without a bias, too.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @layer_norm
func.func @layer_norm(%x: tensor<?x8xf16, #tiny.dims<["N", 8]>>, %scale: tensor<8xf16>, %bias: tensor<8xf16>) -> (tensor<?x8xf16, #tiny.dims<["N", 8]>>, tensor<?x1xf32, #tiny.dims<["N", 1]>>, tensor<?x1xf32, #tiny.dims<["N", 1]>>) {
  // CHECK: "frontend.layer_norm"(%{{.*}}, %{{.*}}, %{{.*}}) {epsilon = 5.000000e-01 : f64}
  %0:3 = "frontend.layer_norm"(%x, %scale, %bias) {epsilon = 5.000000e-01 : f64} : (tensor<?x8xf16, #tiny.dims<["N", 8]>>, tensor<8xf16>, tensor<8xf16>) -> (tensor<?x8xf16, #tiny.dims<["N", 8]>>, tensor<?x1xf32, #tiny.dims<["N", 1]>>, tensor<?x1xf32, #tiny.dims<["N", 1]>>)
  return %0#0, %0#1, %0#2 : tensor<?x8xf16, #tiny.dims<["N", 8]>>, tensor<?x1xf32, #tiny.dims<["N", 1]>>, tensor<?x1xf32, #tiny.dims<["N", 1]>>
}

// CHECK-LABEL: func.func @layer_norm_without_bias
func.func @layer_norm_without_bias(%x: tensor<2x3x8xf32>, %scale: tensor<3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x1x1xf32>, tensor<2x1x1xf32>) {
  // CHECK: "frontend.layer_norm"(%{{.*}}, %{{.*}}) {axis = 1 : i64}
  %0:3 = "frontend.layer_norm"(%x, %scale) {axis = 1 : i64} : (tensor<2x3x8xf32>, tensor<3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x1x1xf32>, tensor<2x1x1xf32>)
  return %0#0, %0#1, %0#2 : tensor<2x3x8xf32>, tensor<2x1x1xf32>, tensor<2x1x1xf32>
}

// CHECK-LABEL: func.func @rms_norm
func.func @rms_norm(%x: tensor<?x8xf32, #tiny.dims<["N", 8]>>, %scale: tensor<8xf32>) -> tensor<?x8xf32, #tiny.dims<["N", 8]>> {
  // CHECK: "frontend.rms_norm"(%{{.*}}, %{{.*}})
  %0 = "frontend.rms_norm"(%x, %scale) : (tensor<?x8xf32, #tiny.dims<["N", 8]>>, tensor<8xf32>) -> tensor<?x8xf32, #tiny.dims<["N", 8]>>
  return %0 : tensor<?x8xf32, #tiny.dims<["N", 8]>>
}

// CHECK-LABEL: func.func @group_norm
func.func @group_norm(%x: tensor<?x4x?xf32, #tiny.dims<["N", 4, "N"]>>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<?x4x?xf32, #tiny.dims<["N", 4, "N"]>> {
  // CHECK: "frontend.group_norm"(%{{.*}}, %{{.*}}, %{{.*}}) {groups = 2 : i64}
  %0 = "frontend.group_norm"(%x, %scale, %bias) {groups = 2 : i64} : (tensor<?x4x?xf32, #tiny.dims<["N", 4, "N"]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x?xf32, #tiny.dims<["N", 4, "N"]>>
  return %0 : tensor<?x4x?xf32, #tiny.dims<["N", 4, "N"]>>
}

// CHECK-LABEL: func.func @instance_norm
func.func @instance_norm(%x: tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, %scale: tensor<4xf32>, %bias: tensor<4xf32>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>> {
  // CHECK: "frontend.instance_norm"(%{{.*}}, %{{.*}}, %{{.*}})
  %0 = "frontend.instance_norm"(%x, %scale, %bias) : (tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
  return %0 : tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
}

// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, %scale: tensor<4xf32>, %bias: tensor<4xf32>, %mean: tensor<4xf32>, %variance: tensor<4xf32>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>> {
  // CHECK: "frontend.batch_norm"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
  %0 = "frontend.batch_norm"(%x, %scale, %bias, %mean, %variance) : (tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
  return %0 : tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
}

// CHECK-LABEL: func.func @batch_norm_training
func.func @batch_norm_training(%x: tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, %scale: tensor<4xf32>, %bias: tensor<4xf32>, %mean: tensor<4xf32>, %variance: tensor<4xf32>) -> (tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK: "frontend.batch_norm_training"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {momentum = 7.500000e-01 : f64}
  %0:3 = "frontend.batch_norm_training"(%x, %scale, %bias, %mean, %variance) {momentum = 7.500000e-01 : f64} : (tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2 : tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @lp_norm
func.func @lp_norm(%x: tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>> {
  // CHECK: "frontend.lp_norm"(%{{.*}}) {p = 1 : i64}
  %0 = "frontend.lp_norm"(%x) {p = 1 : i64} : (tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>>
  return %0 : tensor<?x4xf32, #tiny.dims<["N", 4]>>
}

// CHECK-LABEL: func.func @mean_variance_norm
func.func @mean_variance_norm(%x: tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>> {
  // CHECK: "frontend.mean_variance_norm"(%{{.*}}) {axes = array<i64: 0>}
  %0 = "frontend.mean_variance_norm"(%x) {axes = array<i64: 0>} : (tensor<?x4xf32, #tiny.dims<["N", 4]>>) -> tensor<?x4xf32, #tiny.dims<["N", 4]>>
  return %0 : tensor<?x4xf32, #tiny.dims<["N", 4]>>
}

// CHECK-LABEL: func.func @local_response_norm
func.func @local_response_norm(%x: tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>> {
  // CHECK: "frontend.local_response_norm"(%{{.*}}) {alpha = 5.000000e-01 : f64, size = 3 : i64}
  %0 = "frontend.local_response_norm"(%x) {alpha = 5.000000e-01 : f64, size = 3 : i64} : (tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>) -> tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
  return %0 : tensor<?x4x5xf32, #tiny.dims<["N", 4, 5]>>
}
