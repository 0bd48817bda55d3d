// RUN: tinyc-opt --stock-printing --tiny-to-region --split-input-file %s | filecheck %s

// An op reads its operands through their movements, in one kernel; the host passes the buffers below them.
// CHECK-LABEL: "region.kernel"() ({
// CHECK: ^bb0(%[[X:.*]]: !region.memref<tensor<4x3xf32>, [3, 1], 128 : i64, true>, %[[Y:.*]]: !region.memref<tensor<12xf32>
// CHECK: %[[READ:.*]] = "region.read"(%[[X]])
// CHECK: %[[T:.*]] = "tiny.permute"(%[[READ]])
// CHECK: "tiny.add"(%[[T]],
// CHECK: {sym_name = "elementwise_add"}
// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32> {tiny.name = "x"},
// CHECK: %[[K:.*]] = "region.launch"() {kernel = @elementwise_add}
// CHECK: %[[SUM:.*]] = call_indirect %[[K]](%arg0, %arg1)
// CHECK: return %[[SUM]]
func.func @main(%x: tensor<4x3xf32> {tiny.name = "x"}, %y: tensor<12xf32>) -> tensor<3x4xf32> {
  %0 = "tiny.permute"(%x) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = "tiny.reshape"(%y) : (tensor<12xf32>) -> tensor<3x4xf32>
  %2 = "tiny.add"(%0, %1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// -----

// A contraction takes the element-wise ops behind it and the casts and movements of what they read: one kernel.
// CHECK-LABEL: "region.kernel"() ({
// CHECK: "tiny.mul"
// CHECK: "tiny.reduce"
// CHECK: "tiny.cast"
// CHECK: "tiny.add"
// CHECK: "tiny.relu"
// CHECK: {plan = {local_edges = [{buffer = "reg", from = "sum_k", to = "relu"}]}, sym_name = "matmul_add_relu"}
// CHECK-NOT: "region.kernel"
// CHECK-LABEL: func.func @main(%arg0: tensor<8x5xf16>
func.func @main(%a: tensor<8x5xf16>, %b: tensor<5x6xf16>, %bias: tensor<6xf16>) -> tensor<8x6xf32> {
  %0 = "tiny.expand"(%a) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<8x5xf16>) -> tensor<8x5x6xf16>
  %1 = "tiny.expand"(%b) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<5x6xf16>) -> tensor<8x5x6xf16>
  %2 = "tiny.mul"(%0, %1) : (tensor<8x5x6xf16>, tensor<8x5x6xf16>) -> tensor<8x5x6xf16>
  %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 1>} : (tensor<8x5x6xf16>) -> tensor<8x6xf32>
  %4 = "tiny.cast"(%bias) : (tensor<6xf16>) -> tensor<6xf32>
  %5 = "tiny.expand"(%4) {broadcast_dimensions = array<i64: 1>} : (tensor<6xf32>) -> tensor<8x6xf32>
  %6 = "tiny.add"(%3, %5) : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
  %7 = "tiny.relu"(%6) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %7 : tensor<8x6xf32>
}

// -----

// A product that two ops read has both as epilogues, and two results.
// CHECK: "region.yield"
// CHECK-NEXT: "region.yield"
// CHECK: local_edges = [{buffer = "reg", from = "sum_k", to = "relu"}, {buffer = "reg", from = "sum_k", to = "neg"}]
// CHECK-SAME: sym_name = "matmul_relu_neg"}
// CHECK: call_indirect %{{.*}}(%arg0, %arg1) : {{.*}} -> (tensor<8x6xf32>, tensor<8x6xf32>)
func.func @main(%a: tensor<8x5xf32>, %b: tensor<5x6xf32>) -> (tensor<8x6xf32>, tensor<8x6xf32>) {
  %0 = "tiny.expand"(%a) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<8x5xf32>) -> tensor<8x5x6xf32>
  %1 = "tiny.expand"(%b) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<5x6xf32>) -> tensor<8x5x6xf32>
  %2 = "tiny.mul"(%0, %1) : (tensor<8x5x6xf32>, tensor<8x5x6xf32>) -> tensor<8x5x6xf32>
  %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 1>} : (tensor<8x5x6xf32>) -> tensor<8x6xf32>
  %4 = "tiny.relu"(%3) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  %5 = "tiny.neg"(%3) : (tensor<8x6xf32>) -> tensor<8x6xf32>
  return %4, %5 : tensor<8x6xf32>, tensor<8x6xf32>
}

// -----

// A sum of squares is not a contraction, but takes the product that only it reads, and what reads the sum.
// CHECK: "tiny.mul"
// CHECK-NEXT: "tiny.reduce"
// CHECK: sym_name = "mul_reduce_sum_sqrt"}
func.func @main(%x: tensor<8x5xf16>) -> tensor<8xf32> {
  %0 = "tiny.mul"(%x, %x) : (tensor<8x5xf16>, tensor<8x5xf16>) -> tensor<8x5xf16>
  %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<8x5xf16>) -> tensor<8xf32>
  %2 = "tiny.sqrt"(%1) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A reshape that is not affine ends the region: the next kernel reads the buffer under the new shape, at no cost.
// CHECK: {sym_name = "elementwise_neg"}
// CHECK: {sym_name = "elementwise_relu"}
// CHECK: %[[NEG:.*]] = call_indirect
// CHECK: %[[VIEW:.*]] = "tiny.reshape"(%[[NEG]]) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?xf32, #tiny.dims<["M*N"]>>
// CHECK: call_indirect %{{.*}}(%[[VIEW]])
func.func @main(%x: tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?xf32, #tiny.dims<["M*N"]>> {
  %0 = "tiny.neg"(%x) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?x?xf32, #tiny.dims<["M", "N"]>>
  %1 = "tiny.reshape"(%0) : (tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<?xf32, #tiny.dims<["M*N"]>>
  %2 = "tiny.relu"(%1) : (tensor<?xf32, #tiny.dims<["M*N"]>>) -> tensor<?xf32, #tiny.dims<["M*N"]>>
  return %2 : tensor<?xf32, #tiny.dims<["M*N"]>>
}

// -----

// An output that is an input, or a movement of one, is copied; so is a value that is returned twice.
// CHECK: {sym_name = "elementwise_neg"}
// CHECK: {sym_name = "copy"}
// CHECK: %[[BOTH:.*]]:2 = call_indirect %{{.*}}(%arg0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>)
// CHECK: %[[COPY:.*]] = call_indirect %{{.*}}(%[[BOTH]]#0)
// CHECK: return %[[BOTH]]#0, %[[COPY]], %[[BOTH]]#1
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  %0 = "tiny.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tiny.reshape"(%x) : (tensor<4xf32>) -> tensor<2x2xf32>
  return %0, %0, %1 : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>
}

// -----

// What no output needs is not computed, and a relation between extents stays with the host.
// CHECK-NOT: exp2
// CHECK: func.func @main
// CHECK-NEXT: "tiny.assume"() {lhs = "M", predicate = "le", rhs = "8"}
func.func @main(%x: tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>> {
  "tiny.assume"() {lhs = "M", predicate = "le", rhs = "8"} : () -> ()
  %0 = "tiny.exp2"(%x) : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
  %1 = "tiny.neg"(%x) : (tensor<?xf32, #tiny.dims<["M"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
  return %1 : tensor<?xf32, #tiny.dims<["M"]>>
}

// -----

// A function that is not a Tiny graph stays: it has no Tiny op, or launches kernels already.
// CHECK-LABEL: func.func @loops(%arg0: memref<4xf32>)
// CHECK-NEXT: return
func.func @loops(%x: memref<4xf32>) {
  return
}

// -----

// Of two products that an op takes, one has the op as its epilogue, which reads the other from memory: the one in f16.
// CHECK: sym_name = "matmul"}
// CHECK: sym_name = "matmul_add"}
// CHECK-LABEL: func.func @main(%arg0: tensor<4x5xf16>
// CHECK: %[[Q:.*]] = call_indirect %{{.*}}(%arg2, %arg3)
// CHECK: call_indirect %{{.*}}(%arg0, %arg1, %[[Q]])
func.func @main(%x: tensor<4x5xf16>, %y: tensor<6x5xf16>, %u: tensor<4x5xf16>, %v: tensor<6x5xf16>) -> tensor<4x6xf32> {
  %0 = "tiny.expand"(%x) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<4x5xf16>) -> tensor<4x6x5xf16>
  %1 = "tiny.expand"(%y) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<6x5xf16>) -> tensor<4x6x5xf16>
  %2 = "tiny.mul"(%0, %1) : (tensor<4x6x5xf16>, tensor<4x6x5xf16>) -> tensor<4x6x5xf16>
  %3 = "tiny.reduce"(%2) {op = "sum", axes = array<i64: 2>} : (tensor<4x6x5xf16>) -> tensor<4x6xf32>
  %4 = "tiny.expand"(%u) {broadcast_dimensions = array<i64: 0, 2>} : (tensor<4x5xf16>) -> tensor<4x6x5xf16>
  %5 = "tiny.expand"(%v) {broadcast_dimensions = array<i64: 1, 2>} : (tensor<6x5xf16>) -> tensor<4x6x5xf16>
  %6 = "tiny.mul"(%4, %5) : (tensor<4x6x5xf16>, tensor<4x6x5xf16>) -> tensor<4x6x5xf16>
  %7 = "tiny.reduce"(%6) {op = "sum", axes = array<i64: 2>} : (tensor<4x6x5xf16>) -> tensor<4x6xf16>
  %8 = "tiny.cast"(%7) : (tensor<4x6xf16>) -> tensor<4x6xf32>
  %9 = "tiny.add"(%3, %8) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %9 : tensor<4x6xf32>
}

// -----

// Equal kernels are one kernel, launched several times.
// CHECK: {sym_name = "elementwise_relu"}
// CHECK-NOT: {sym_name = "elementwise_relu_1"}
// CHECK-LABEL: func.func @main(%arg0: tensor<7xf32>
// CHECK: call_indirect %{{.*}}(%arg{{[01]}})
// CHECK: "region.launch"() {kernel = @elementwise_relu}
// CHECK: call_indirect %{{.*}}(%arg{{[01]}})
func.func @main(%x: tensor<7xf32>, %y: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %0 = "tiny.relu"(%x) : (tensor<7xf32>) -> tensor<7xf32>
  %1 = "tiny.relu"(%y) : (tensor<7xf32>) -> tensor<7xf32>
  return %0, %1 : tensor<7xf32>, tensor<7xf32>
}

// -----

// A dead consumer of a product does not keep it from being the sum's.
// CHECK-NOT: elementwise
// CHECK: {sym_name = "mul_reduce_sum"}
// CHECK-LABEL: func.func @main(%arg0: tensor<8x5xi8>)
func.func @main(%x: tensor<8x5xi8>) -> tensor<8xi32> {
  %0 = "tiny.mul"(%x, %x) : (tensor<8x5xi8>, tensor<8x5xi8>) -> tensor<8x5xi8>
  %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 1>} : (tensor<8x5xi8>) -> tensor<8xi32>
  %2 = "tiny.neg"(%0) : (tensor<8x5xi8>) -> tensor<8x5xi8>
  return %1 : tensor<8xi32>
}

// -----

// A leaf under a reshape that is not affine is written to a buffer.
// CHECK: "tiny.iota"
// CHECK: {sym_name = "copy"}
// CHECK: %[[IOTA:.*]] = call_indirect
// CHECK: "tiny.reshape"(%[[IOTA]])
func.func @main() -> tensor<?x?xi32, #tiny.dims<["B", "A"]>> {
  %0 = "tiny.iota"() {axis = 0 : i64} : () -> tensor<?x?xi32, #tiny.dims<["A", "B"]>>
  %1 = "tiny.reshape"(%0) : (tensor<?x?xi32, #tiny.dims<["A", "B"]>>) -> tensor<?x?xi32, #tiny.dims<["B", "A"]>>
  return %1 : tensor<?x?xi32, #tiny.dims<["B", "A"]>>
}
