// Alternatives that are not the kernel at their sizes, and what is no size, are refused where they stand.
// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

!b = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!t = tensor<?xf32, #tiny.dims<["M"]>>
"region.kernel"() ({ ^bb0(%x: !b, %y: !b):
  %0 = "region.read"(%x) : (!b) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !b) -> ()
  omp.terminator }) {sym_name = "copy"} : () -> ()
func.func @main(%x: !t {tiny.name = "x"}) -> (!t {tiny.name = "y"}) {
  // expected-error @+1 {{'region.launch' has the alternative @other: there is no such kernel in the module}}
  %k = "region.launch"() {alternatives = [@other], kernel = @copy} : () -> ((!t) -> !t)
  %0 = call_indirect %k(%x) : (!t) -> !t
  return %0 : !t
}

// -----

!b = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!t = tensor<?xf32, #tiny.dims<["M"]>>
"region.kernel"() ({ ^bb0(%x: !b, %y: !b):
  %0 = "region.read"(%x) : (!b) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !b) -> ()
  omp.terminator }) {sym_name = "copy"} : () -> ()
func.func @main(%x: !t {tiny.name = "x"}) -> (!t {tiny.name = "y"}) {
  // expected-error @+1 {{'region.launch' has the alternative @copy, which says no 'sizes' or 'guards'; write them on it}}
  %k = "region.launch"() {alternatives = [@copy], kernel = @copy} : () -> ((!t) -> !t)
  %0 = call_indirect %k(%x) : (!t) -> !t
  return %0 : !t
}

// -----

!b = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!t = tensor<?xf32, #tiny.dims<["M"]>>
"region.kernel"() ({ ^bb0(%x: !b, %y: !b):
  %0 = "region.read"(%x) : (!b) -> !t
  "region.yield"(%0, %y) {materialize = "gmem"} : (!t, !b) -> ()
  omp.terminator }) {sym_name = "copy"} : () -> ()
!b8 = !region.memref<tensor<8xf32>, [1], 128 : i64, true>
"region.kernel"() ({ ^bb0(%x: !b8, %y: !b8):
  %0 = "region.read"(%x) : (!b8) -> tensor<8xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<8xf32>, !b8) -> ()
  omp.terminator }) {sym_name = "copy_M9", sizes = {M = 9 : i64}} : () -> ()
func.func @main(%x: !t {tiny.name = "x"}) -> (!t {tiny.name = "y"}) {
  // expected-error @+1 {{at M = 9 it has to be (tensor<9xf32>) -> tensor<9xf32>, and is a function (tensor<8xf32>) -> tensor<8xf32>}}
  %k = "region.launch"() {alternatives = [@copy_M9], kernel = @copy} : () -> ((!t) -> !t)
  %0 = call_indirect %k(%x) : (!t) -> !t
  return %0 : !t
}

// -----

!b8 = !region.memref<tensor<8xf32>, [1], 128 : i64, true>
// expected-error @+1 {{has 'sizes' {M = "8"}; write a size for each symbol, {M = 8 : i64}}}
"region.kernel"() ({ ^bb0(%x: !b8, %y: !b8):
  %0 = "region.read"(%x) : (!b8) -> tensor<8xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<8xf32>, !b8) -> ()
  omp.terminator }) {sym_name = "copy_M8", sizes = {M = "8"}} : () -> ()
