// Tiny ops are pure: upstream CSE merges equal ones and drops unused ones. An assumption is not pure, and stays.
// RUN: tinyc-opt --pass-pipeline="builtin.module(func.func(cse))" %s | filecheck %s

// CHECK-LABEL: func.func @equal_ops
func.func @equal_ops(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = "tiny.exp2"
  %0 = "tiny.exp2"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tiny.exp2"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: "tiny.add"(%[[A]], %[[A]])
  %2 = "tiny.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @different_attributes
func.func @different_attributes(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  // CHECK-COUNT-2: "tiny.flip"
  %0 = "tiny.flip"(%x) {axes = array<i64: 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = "tiny.flip"(%x) {axes = array<i64: 1>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  // CHECK-NEXT: "tiny.add"
  %2 = "tiny.add"(%0, %1) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}

// Equal random numbers are one; another stream is another.
// CHECK-LABEL: func.func @random_numbers
func.func @random_numbers() -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = "tiny.rand"() {{.*}} stream = 0
  %0 = "tiny.rand"() {distribution = "uniform", seed = 7 : i64, stream = 0 : i64} : () -> tensor<4xf32>
  %1 = "tiny.rand"() {distribution = "uniform", seed = 7 : i64, stream = 0 : i64} : () -> tensor<4xf32>
  // CHECK-NEXT: %[[B:.*]] = "tiny.rand"() {{.*}} stream = 1
  %2 = "tiny.rand"() {distribution = "uniform", seed = 7 : i64, stream = 1 : i64} : () -> tensor<4xf32>
  // CHECK-NEXT: "tiny.cmp_lt"(%[[A]], %[[A]])
  %3 = "tiny.cmp_lt"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK-NEXT: "tiny.where"(%{{.*}}, %[[A]], %[[B]])
  %4 = "tiny.where"(%3, %1, %2) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: func.func @unused_ops
func.func @unused_ops(%x: tensor<?xf32, #tiny.dims<["M"]>>) {
  // CHECK-NEXT: "tiny.assume"
  "tiny.assume"() {lhs = "M", predicate = "le", rhs = "64"} : () -> ()
  %0 = "tiny.relu"(%x) : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
  // CHECK-NEXT: return
  return
}
