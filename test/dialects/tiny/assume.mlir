// A relation between extents that an op relies on stands beside it.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK-LABEL: func.func @reshape_that_relies_on_an_equation
func.func @reshape_that_relies_on_an_equation(%x: tensor<?xf32, #tiny.dims<["C"]>>) -> tensor<?x?xf32, #tiny.dims<["G", "R"]>> {
  // CHECK: "tiny.assume"() {lhs = "C", predicate = "eq", rhs = "G*R"} : () -> ()
  "tiny.assume"() {lhs = "C", predicate = "eq", rhs = "G*R"} : () -> ()
  // CHECK: "tiny.reshape"
  %0 = "tiny.reshape"(%x) : (tensor<?xf32, #tiny.dims<["C"]>>) -> tensor<?x?xf32, #tiny.dims<["G", "R"]>>
  return %0 : tensor<?x?xf32, #tiny.dims<["G", "R"]>>
}

// CHECK-LABEL: func.func @window_that_relies_on_an_inequality
func.func @window_that_relies_on_an_inequality(%x: tensor<?xf32, #tiny.dims<["H"]>>) -> tensor<?x3xf32, #tiny.dims<["(H - 1) floordiv 2", 3]>> {
  // CHECK: "tiny.assume"() {lhs = "3", predicate = "le", rhs = "H"} : () -> ()
  "tiny.assume"() {lhs = "3", predicate = "le", rhs = "H"} : () -> ()
  // CHECK: "tiny.pool"
  %0 = "tiny.pool"(%x) {kernel = array<i64: 3>, stride = array<i64: 2>, dilation = array<i64: 1>} : (tensor<?xf32, #tiny.dims<["H"]>>) -> tensor<?x3xf32, #tiny.dims<["(H - 1) floordiv 2", 3]>>
  return %0 : tensor<?x3xf32, #tiny.dims<["(H - 1) floordiv 2", 3]>>
}
