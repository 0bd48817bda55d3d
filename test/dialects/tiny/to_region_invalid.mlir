// RUN: not tinyc-opt --tiny-to-region %s 2>&1 | filecheck %s

// A Tiny function holds Tiny ops only.
// CHECK: error: function @main mixes Tiny ops with 'arith.constant'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 1 : index
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
