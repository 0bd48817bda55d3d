// Reductions of sliding windows, and what undoes them.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @pool
func.func @pool(%x: tensor<?x3x9x?xf16, #tiny.dims<["N", 3, 9, "N"]>>) -> tensor<?x3x5x?xf16, #tiny.dims<["N", 3, 5, "N"]>> {
  // CHECK: "frontend.pool"(%{{.*}}) {count_include_pad = true, fn = "average", kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 1>}
  %0 = "frontend.pool"(%x) {count_include_pad = true, fn = "average", kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 1>} : (tensor<?x3x9x?xf16, #tiny.dims<["N", 3, 9, "N"]>>) -> tensor<?x3x5x?xf16, #tiny.dims<["N", 3, 5, "N"]>>
  return %0 : tensor<?x3x5x?xf16, #tiny.dims<["N", 3, 5, "N"]>>
}

// CHECK-LABEL: func.func @max_pool_indices
func.func @max_pool_indices(%x: tensor<1x3x9xui8>) -> (tensor<1x3x5xui8>, tensor<1x3x5xi64>) {
  // CHECK: "frontend.max_pool_indices"(%{{.*}}) {ceil_mode = true, kernel = array<i64: 2>, stride = array<i64: 2>}
  %0:2 = "frontend.max_pool_indices"(%x) {ceil_mode = true, kernel = array<i64: 2>, stride = array<i64: 2>} : (tensor<1x3x9xui8>) -> (tensor<1x3x5xui8>, tensor<1x3x5xi64>)
  return %0#0, %0#1 : tensor<1x3x5xui8>, tensor<1x3x5xi64>
}

// CHECK-LABEL: func.func @max_unpool
func.func @max_unpool(%x: tensor<1x1x2xf32>, %indices: tensor<1x1x2xi64>) -> tensor<1x1x5xf32> {
  // CHECK: "frontend.max_unpool"(%{{.*}}, %{{.*}}) {padded = [1, 1, 5], shape = [1, 1, 4]}
  %0 = "frontend.max_unpool"(%x, %indices) {padded = [1, 1, 5], shape = [1, 1, 4]} : (tensor<1x1x2xf32>, tensor<1x1x2xi64>) -> tensor<1x1x5xf32>
  return %0 : tensor<1x1x5xf32>
}
