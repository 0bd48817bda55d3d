// The dialects are listed: tinyc's in walk order, then MLIR's.
// RUN: tinyc-opt --show-dialects | filecheck %s

// CHECK: Available Dialects: frontend, tiny,
// CHECK-SAME: region, tgpu, exec, acc, affine,
// CHECK-SAME: llvm,
// CHECK-SAME: vector
