// Every element-wise op, on the element types that it takes, survives printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @unary_on_floats
func.func @unary_on_floats(%x: tensor<4x3xf16>) {
  // CHECK: "tiny.neg"(%[[X:.*]]) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  %0 = "tiny.neg"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: "tiny.exp2"(%[[X]])
  %1 = "tiny.exp2"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: "tiny.log2"(%[[X]])
  %2 = "tiny.log2"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: "tiny.sqrt"(%[[X]])
  %3 = "tiny.sqrt"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: "tiny.rsqrt"(%[[X]])
  %4 = "tiny.rsqrt"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: "tiny.recip"(%[[X]])
  %5 = "tiny.recip"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  // CHECK: "tiny.relu"(%[[X]])
  %6 = "tiny.relu"(%x) : (tensor<4x3xf16>) -> tensor<4x3xf16>
  return
}

// CHECK-LABEL: func.func @unary_on_doubles
func.func @unary_on_doubles(%x: tensor<f64>) {
  // CHECK: "tiny.sin"(%[[X:.*]]) : (tensor<f64>) -> tensor<f64>
  %0 = "tiny.sin"(%x) : (tensor<f64>) -> tensor<f64>
  // CHECK: "tiny.erf"(%[[X]])
  %1 = "tiny.erf"(%x) : (tensor<f64>) -> tensor<f64>
  // CHECK: "tiny.tanh"(%[[X]])
  %2 = "tiny.tanh"(%x) : (tensor<f64>) -> tensor<f64>
  // CHECK: "tiny.floor"(%[[X]])
  %3 = "tiny.floor"(%x) : (tensor<f64>) -> tensor<f64>
  return
}

// CHECK-LABEL: func.func @unary_on_integers_and_bool
func.func @unary_on_integers_and_bool(%i: tensor<3xi8>, %b: tensor<3xi1>) {
  // CHECK: "tiny.neg"(%{{.*}}) : (tensor<3xi8>) -> tensor<3xi8>
  %0 = "tiny.neg"(%i) : (tensor<3xi8>) -> tensor<3xi8>
  // CHECK: "tiny.not"(%{{.*}}) : (tensor<3xi8>) -> tensor<3xi8>
  %1 = "tiny.not"(%i) : (tensor<3xi8>) -> tensor<3xi8>
  // CHECK: "tiny.not"(%{{.*}}) : (tensor<3xi1>) -> tensor<3xi1>
  %2 = "tiny.not"(%b) : (tensor<3xi1>) -> tensor<3xi1>
  return
}

// CHECK-LABEL: func.func @arithmetic
func.func @arithmetic(%x: tensor<4x3xbf16>, %y: tensor<4x3xbf16>) {
  // CHECK: "tiny.add"(%[[X:.*]], %[[Y:.*]]) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  %0 = "tiny.add"(%x, %y) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  // CHECK: "tiny.sub"(%[[X]], %[[Y]])
  %1 = "tiny.sub"(%x, %y) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  // CHECK: "tiny.mul"(%[[X]], %[[Y]])
  %2 = "tiny.mul"(%x, %y) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  // CHECK: "tiny.fdiv"(%[[X]], %[[Y]])
  %3 = "tiny.fdiv"(%x, %y) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  // CHECK: "tiny.max"(%[[X]], %[[Y]])
  %4 = "tiny.max"(%x, %y) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  // CHECK: "tiny.min"(%[[X]], %[[Y]])
  %5 = "tiny.min"(%x, %y) : (tensor<4x3xbf16>, tensor<4x3xbf16>) -> tensor<4x3xbf16>
  return
}

// CHECK-LABEL: func.func @integer_arithmetic
func.func @integer_arithmetic(%x: tensor<5xui16>, %y: tensor<5xui16>) {
  // CHECK: "tiny.idiv"(%[[X:.*]], %[[Y:.*]]) : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xui16>
  %0 = "tiny.idiv"(%x, %y) : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xui16>
  // CHECK: "tiny.mod"(%[[X]], %[[Y]])
  %1 = "tiny.mod"(%x, %y) : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xui16>
  // CHECK: "tiny.and"(%[[X]], %[[Y]])
  %2 = "tiny.and"(%x, %y) : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xui16>
  // CHECK: "tiny.or"(%[[X]], %[[Y]])
  %3 = "tiny.or"(%x, %y) : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xui16>
  // CHECK: "tiny.xor"(%[[X]], %[[Y]])
  %4 = "tiny.xor"(%x, %y) : (tensor<5xui16>, tensor<5xui16>) -> tensor<5xui16>
  return
}

// CHECK-LABEL: func.func @compare_and_select
func.func @compare_and_select(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  // CHECK: %[[LESS:.*]] = "tiny.cmp_lt"(%[[X:.*]], %[[Y:.*]]) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %0 = "tiny.cmp_lt"(%x, %y) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  // CHECK: %[[SAME:.*]] = "tiny.cmp_eq"(%[[X]], %[[Y]]) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  %1 = "tiny.cmp_eq"(%x, %y) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
  // CHECK: %[[BOTH:.*]] = "tiny.and"(%[[LESS]], %[[SAME]])
  %2 = "tiny.and"(%0, %1) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  // CHECK: "tiny.where"(%[[BOTH]], %[[X]], %[[Y]]) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %3 = "tiny.where"(%2, %x, %y) : (tensor<4xi1>, tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %3 : tensor<4xi64>
}

// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<4xf32>) -> tensor<4xui8> {
  // CHECK: "tiny.cast"(%{{.*}}) : (tensor<4xf32>) -> tensor<4xui8>
  %0 = "tiny.cast"(%x) : (tensor<4xf32>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}
