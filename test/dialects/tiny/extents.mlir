// Symbolic extents stand in the tensor types; movements compute with them.
// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @movements_of_symbols
// CHECK-SAME: tensor<?x?xf32, #tiny.dims<["M", "K"]>>
func.func @movements_of_symbols(%x: tensor<?x?xf32, #tiny.dims<["M", "K"]>>) {
  // CHECK: "tiny.reshape"{{.*}} -> tensor<?x1x?xf32, #tiny.dims<["M", 1, "K"]>>
  %0 = "tiny.reshape"(%x) : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>) -> tensor<?x1x?xf32, #tiny.dims<["M", 1, "K"]>>
  // CHECK: "tiny.expand"{{.*}} -> tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>
  %1 = "tiny.expand"(%0) {broadcast_dimensions = array<i64: 0, 1, 2>} : (tensor<?x1x?xf32, #tiny.dims<["M", 1, "K"]>>) -> tensor<?x?x?xf32, #tiny.dims<["M", "N", "K"]>>
  // CHECK: "tiny.permute"{{.*}} -> tensor<?x?xf32, #tiny.dims<["K", "M"]>>
  %2 = "tiny.permute"(%x) {perm = array<i64: 1, 0>} : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>) -> tensor<?x?xf32, #tiny.dims<["K", "M"]>>
  // CHECK: "tiny.pad"{{.*}} -> tensor<?x?xf32, #tiny.dims<["M + 3", "K"]>>
  %3 = "tiny.pad"(%x) {lo = array<i64: 1, 0>, hi = array<i64: 2, 0>, value = 0.0 : f32} : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>) -> tensor<?x?xf32, #tiny.dims<["M + 3", "K"]>>
  // CHECK: "tiny.reduce"{{.*}} -> tensor<?xf32, #tiny.dims<["M"]>>
  %4 = "tiny.reduce"(%x) {op = "sum", axes = array<i64: 1>} : (tensor<?x?xf32, #tiny.dims<["M", "K"]>>) -> tensor<?xf32, #tiny.dims<["M"]>>
  return
}

// The products on both sides are the same polynomial, so that nothing has to be assumed.
// CHECK-LABEL: func.func @reshape_of_products
func.func @reshape_of_products(%x: tensor<?x?xf32, #tiny.dims<["G*Cin", "H"]>>) -> tensor<?x?xf32, #tiny.dims<["G", "H*Cin"]>> {
  // CHECK: "tiny.reshape"
  %0 = "tiny.reshape"(%x) : (tensor<?x?xf32, #tiny.dims<["G*Cin", "H"]>>) -> tensor<?x?xf32, #tiny.dims<["G", "H*Cin"]>>
  return %0 : tensor<?x?xf32, #tiny.dims<["G", "H*Cin"]>>
}
