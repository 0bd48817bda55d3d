// Elements at coordinates that data says.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @affine_grid
func.func @affine_grid(%theta: tensor<?x2x3xf32, #tiny.dims<["N", 2, 3]>>) -> tensor<?x4x?x2xf32, #tiny.dims<["N", 4, "N", 2]>> {
  // CHECK: "frontend.affine_grid"(%{{.*}}) {size = [4, "N"]}
  %0 = "frontend.affine_grid"(%theta) {size = [4, "N"]} : (tensor<?x2x3xf32, #tiny.dims<["N", 2, 3]>>) -> tensor<?x4x?x2xf32, #tiny.dims<["N", 4, "N", 2]>>
  return %0 : tensor<?x4x?x2xf32, #tiny.dims<["N", 4, "N", 2]>>
}

// CHECK-LABEL: func.func @grid_sample
func.func @grid_sample(%x: tensor<?x3x4x5xf32, #tiny.dims<["N", 3, 4, 5]>>, %grid: tensor<?x6x7x2xf32, #tiny.dims<["N", 6, 7, 2]>>) -> tensor<?x3x6x7xf32, #tiny.dims<["N", 3, 6, 7]>> {
  // CHECK: "frontend.grid_sample"(%{{.*}}, %{{.*}}) {align_corners = true, mode = "cubic", padding = "reflection"}
  %0 = "frontend.grid_sample"(%x, %grid) {align_corners = true, mode = "cubic", padding = "reflection"} : (tensor<?x3x4x5xf32, #tiny.dims<["N", 3, 4, 5]>>, tensor<?x6x7x2xf32, #tiny.dims<["N", 6, 7, 2]>>) -> tensor<?x3x6x7xf32, #tiny.dims<["N", 3, 6, 7]>>
  return %0 : tensor<?x3x6x7xf32, #tiny.dims<["N", 3, 6, 7]>>
}

// CHECK-LABEL: func.func @roi_align
func.func @roi_align(%x: tensor<2x3x8x8xf32>, %rois: tensor<?x4xf32, #tiny.dims<["N", 4]>>, %batches: tensor<?xi64, #tiny.dims<["N"]>>) -> tensor<?x3x2x3xf32, #tiny.dims<["N", 3, 2, 3]>> {
  // CHECK: "frontend.roi_align"(%{{.*}}, %{{.*}}, %{{.*}}) {mode = "max", samples = 2 : i64, size = array<i64: 2, 3>}
  %0 = "frontend.roi_align"(%x, %rois, %batches) {mode = "max", samples = 2 : i64, size = array<i64: 2, 3>} : (tensor<2x3x8x8xf32>, tensor<?x4xf32, #tiny.dims<["N", 4]>>, tensor<?xi64, #tiny.dims<["N"]>>) -> tensor<?x3x2x3xf32, #tiny.dims<["N", 3, 2, 3]>>
  return %0 : tensor<?x3x2x3xf32, #tiny.dims<["N", 3, 2, 3]>>
}
