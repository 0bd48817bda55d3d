// RUN: tinyc-opt --tiny-to-index-book --tiny-to-poly --tiny-to-region %s | filecheck %s

// The side tables of a Tiny function end with it.
// CHECK-NOT: index_book.table
// CHECK-NOT: poly.view
// CHECK: "region.kernel"
// CHECK-NOT: index_book.table
// CHECK-NOT: poly.view
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
