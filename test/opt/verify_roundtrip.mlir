// IR of tinyc's and of MLIR's dialects survives printing and parsing.
// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s

// CHECK: "tiny.neg"
func.func @f(%x: tensor<?x3xf16, #tiny.dims<["M", 3]>>) -> tensor<?x3xf16, #tiny.dims<["M", 3]>> {
  %0 = "tiny.neg"(%x) : (tensor<?x3xf16, #tiny.dims<["M", 3]>>) -> tensor<?x3xf16, #tiny.dims<["M", 3]>>
  return %0 : tensor<?x3xf16, #tiny.dims<["M", 3]>>
}
