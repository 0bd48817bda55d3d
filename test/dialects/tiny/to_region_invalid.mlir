// RUN: not tinyc-opt --tiny-to-region --split-input-file %s 2>&1 | filecheck %s

// A Tiny function holds Tiny ops only.
// CHECK: error: function @main mixes Tiny ops with 'arith.constant'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant 1 : index
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Calls: what goes before is said.
// CHECK: error: function @main mixes Tiny ops with 'func.call'; tiny-to-region takes functions of Tiny ops only; --tiny-inline comes before
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tiny.neg"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
