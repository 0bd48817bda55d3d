// RUN: tinyc-opt --stock-printing --region-to-exec --split-input-file %s | filecheck %s

// A chain: each launch is a generation of its own; the third value takes the place of the first, whose last reader is
// done, and a reshape is the same buffer under another shape. Sizes are formulas.
// CHECK-LABEL: sym_name = "chain"
// CHECK: "exec.function"
// CHECK: "exec.assume"() {lhs = "M", predicate = "le", rhs = "N"}
// CHECK: buffer = "input_0"
// CHECK-SAME: offset = 0 : i64, size = "8*M", tensor = tensor<?x4xf16
// CHECK: buffer = "output_0"
// CHECK-SAME: tensor = tensor<?xf16, #tiny.dims<["4*M"]>>
// CHECK: buffer = "temp_0"
// CHECK-SAME: offset = 0 : i64
// CHECK: buffer = "temp_1"
// CHECK-SAME: offset = "256*((M - 1) floordiv 32) + 256"
// CHECK: buffer = "temp_2"
// CHECK-SAME: offset = 0 : i64
// CHECK: generation = 0 : i64, grid = ["M", 1, 1], parameters = [#exec.ptr<"input_0", {{.*}}>, #exec.ptr<"temp_0", {{.*}}>, #exec.extent<"M">], reads = ["input_0"], symbol = @chain, writes = ["temp_0"]
// CHECK: generation = 1 : i64
// CHECK: generation = 2 : i64
// CHECK: generation = 3 : i64, grid = ["4*M", 1, 1], parameters = [#exec.ptr<"temp_2", tensor<?xf16, #tiny.dims<["4*M"]>>>, #exec.ptr<"output_0"
// CHECK: arena_bytes = "512*((M - 1) floordiv 32) + 512", inputs = ["a"], outputs = ["b"], sym_name = "main", symbols = ["M", "N"]
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<?x4xf16, #tiny.dims<["M", 4]>>, [4, 1], 128 : i64, true>, %y: !region.memref<tensor<?x4xf16, #tiny.dims<["M", 4]>>, [4, 1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<?x4xf16, #tiny.dims<["M", 4]>>, [4, 1], 128 : i64, true>) -> tensor<?x4xf16, #tiny.dims<["M", 4]>>
  %1 = "tiny.flip"(%0) {axes = array<i64: 1>} : (tensor<?x4xf16, #tiny.dims<["M", 4]>>) -> tensor<?x4xf16, #tiny.dims<["M", 4]>>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<?x4xf16, #tiny.dims<["M", 4]>>, !region.memref<tensor<?x4xf16, #tiny.dims<["M", 4]>>, [4, 1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "chain"} : () -> ()
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<?xf16, #tiny.dims<["4*M"]>>, [1], 128 : i64, true>, %y: !region.memref<tensor<?xf16, #tiny.dims<["4*M"]>>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<?xf16, #tiny.dims<["4*M"]>>, [1], 128 : i64, true>) -> tensor<?xf16, #tiny.dims<["4*M"]>>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<?xf16, #tiny.dims<["4*M"]>>, !region.memref<tensor<?xf16, #tiny.dims<["4*M"]>>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "last"} : () -> ()
func.func @main(%a: tensor<?x4xf16, #tiny.dims<["M", 4]>> {tiny.name = "a"}) -> (tensor<?xf16, #tiny.dims<["4*M"]>> {tiny.name = "b"}) {
  "tiny.assume"() {lhs = "M", predicate = "le", rhs = "N"} : () -> ()
  %k = "region.launch"() {kernel = @chain} : () -> ((tensor<?x4xf16, #tiny.dims<["M", 4]>>) -> tensor<?x4xf16, #tiny.dims<["M", 4]>>)
  %0 = func.call_indirect %k(%a) : (tensor<?x4xf16, #tiny.dims<["M", 4]>>) -> tensor<?x4xf16, #tiny.dims<["M", 4]>>
  %1 = func.call_indirect %k(%0) : (tensor<?x4xf16, #tiny.dims<["M", 4]>>) -> tensor<?x4xf16, #tiny.dims<["M", 4]>>
  %2 = func.call_indirect %k(%1) : (tensor<?x4xf16, #tiny.dims<["M", 4]>>) -> tensor<?x4xf16, #tiny.dims<["M", 4]>>
  %3 = "tiny.reshape"(%2) : (tensor<?x4xf16, #tiny.dims<["M", 4]>>) -> tensor<?xf16, #tiny.dims<["4*M"]>>
  %last = "region.launch"() {kernel = @last} : () -> ((tensor<?xf16, #tiny.dims<["4*M"]>>) -> tensor<?xf16, #tiny.dims<["4*M"]>>)
  %4 = func.call_indirect %last(%3) : (tensor<?xf16, #tiny.dims<["4*M"]>>) -> tensor<?xf16, #tiny.dims<["4*M"]>>
  return %4 : tensor<?xf16, #tiny.dims<["4*M"]>>
}

// -----

// Launches that do not depend on each other share a generation, and what they write does not share a place. A buffer that
// is passed twice is read once; a kernel that takes indices from data has a status slot.
// CHECK: "exec.function"
// CHECK: buffer = "temp_0"
// CHECK-SAME: offset = 0 : i64
// CHECK: buffer = "temp_1"
// CHECK-SAME: offset = 256 : i64
// CHECK: generation = 0 : i64, {{.*}} #exec.status<0 : i64>], reads = ["input_0", "input_1"], symbol = @take, writes = ["temp_0"]
// CHECK: generation = 0 : i64, {{.*}} #exec.status<1 : i64>], reads = ["input_0", "input_1"], symbol = @take, writes = ["temp_1"]
// CHECK: generation = 1 : i64, {{.*}} parameters = [#exec.ptr<"temp_0", tensor<4xi64>>, #exec.ptr<"temp_0", tensor<4xi64>>, #exec.ptr<"output_0", tensor<4xi64>>], reads = ["temp_0"]
// CHECK: generation = 1 : i64, {{.*}} reads = ["temp_1", "temp_0"], symbol = @add, writes = ["output_1"]
// CHECK: arena_bytes = 512 : i64, inputs = ["arg0", "arg1"], outputs = ["result0", "result1"]
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xi64>, [1], 128 : i64, true>, %i: !region.memref<tensor<4xi64>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xi64>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> tensor<4xi64>
  %1 = "region.read"(%i) : (!region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> tensor<4xi64>
  %2 = "tiny.gather"(%0, %1) {axis = 0} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<4xi64>, !region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "take"} : () -> ()
"region.kernel"() ({
^bb0(%x: !region.memref<tensor<4xi64>, [1], 128 : i64, true>, %i: !region.memref<tensor<4xi64>, [1], 128 : i64, true>, %y: !region.memref<tensor<4xi64>, [1], 128 : i64, true>):
  %0 = "region.read"(%x) : (!region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> tensor<4xi64>
  %1 = "region.read"(%i) : (!region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> tensor<4xi64>
  %2 = "tiny.add"(%0, %1) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  "region.yield"(%2, %y) {materialize = "gmem"} : (tensor<4xi64>, !region.memref<tensor<4xi64>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "add"} : () -> ()
func.func @main(%a: tensor<4xi64>, %b: tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>) {
  %take = "region.launch"() {kernel = @take} : () -> ((tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>)
  %add = "region.launch"() {kernel = @add} : () -> ((tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>)
  %0 = func.call_indirect %take(%a, %b) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = func.call_indirect %add(%0, %0) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %2 = func.call_indirect %take(%a, %b) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %3 = func.call_indirect %add(%2, %0) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  return %1, %3 : tensor<4xi64>, tensor<4xi64>
}

// -----

// Of several host functions, @main is the program: the other one and its kernel are gone. That no extent inside a kernel
// is negative, and no divisor 0, has to hold at run time.
// CHECK-NOT: "idle"
// CHECK: sym_name = "busy"
// CHECK: "exec.assume"() {lhs = 1 : i64, predicate = "le", rhs = "N"}
// CHECK: "exec.assume"() {lhs = 0 : i64, predicate = "le", rhs = "M - 5"}
// CHECK: sym_name = "main"
// CHECK-NOT: func.func
"region.kernel"() ({
^bb0(%y: !region.memref<tensor<i64>, [], 128 : i64, true>):
  %0 = "tiny.const"() {value = 1 : i64} : () -> tensor<i64>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<i64>, !region.memref<tensor<i64>, [], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "idle"} : () -> ()
"region.kernel"() ({
^bb0(%y: !region.memref<tensor<i64>, [], 128 : i64, true>):
  %0 = "tiny.iota"() {axis = 0} : () -> tensor<?x?xi64, #tiny.dims<["M floordiv N", "M - 5"]>>
  %1 = "tiny.reduce"(%0) {op = "sum", axes = array<i64: 0, 1>} : (tensor<?x?xi64, #tiny.dims<["M floordiv N", "M - 5"]>>) -> tensor<i64>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<i64>, !region.memref<tensor<i64>, [], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "busy"} : () -> ()
func.func @other() -> tensor<i64> {
  %k = "region.launch"() {kernel = @idle} : () -> (() -> tensor<i64>)
  %0 = func.call_indirect %k() : () -> tensor<i64>
  return %0 : tensor<i64>
}
func.func @main(%a: tensor<?x?xf32, #tiny.dims<["M", "N"]>>) -> tensor<i64> {
  %k = "region.launch"() {kernel = @busy} : () -> (() -> tensor<i64>)
  %0 = func.call_indirect %k() : () -> tensor<i64>
  return %0 : tensor<i64>
}

// -----

// A result takes the place of an operand at once where its kernel reads each element of it where it writes its own, and
// nothing else reads the operand any more: the second value lies where the first does, and the third, whose kernel turns
// rows around, elsewhere. The fourth does not overwrite the second, which the last launch needs.
// CHECK: "exec.function"
// CHECK: buffer = "temp_0"
// CHECK-SAME: offset = 0 : i64
// CHECK: buffer = "temp_1"
// CHECK-SAME: offset = 0 : i64
// CHECK: buffer = "temp_2"
// CHECK-SAME: offset = 256 : i64
// CHECK: buffer = "temp_3"
// CHECK-SAME: offset = 256 : i64
// CHECK: generation = 0 : i64, grid = [4, 1, 1], parameters
// CHECK: generation = 1 : i64, grid = [4, 1, 1], in_place = {{\[\[}}"temp_0", "temp_1"]], {{.*}} symbol = @double
// CHECK: generation = 2 : i64, grid = [4, 1, 1], parameters
// CHECK: generation = 3 : i64, grid = [4, 1, 1], in_place = {{\[\[}}"temp_2", "temp_3"]], {{.*}} symbol = @add
// CHECK: generation = 4 : i64, grid = [4, 1, 1], parameters
// CHECK: arena_bytes = 512 : i64
!tensor = tensor<4x4xf32>
!buffer = !region.memref<tensor<4x4xf32>, [4, 1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> !tensor
  %1 = "tiny.add"(%0, %0) : (!tensor, !tensor) -> !tensor
  "region.yield"(%1, %y) {materialize = "gmem"} : (!tensor, !buffer) -> ()
  omp.terminator
}) {sym_name = "double"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> !tensor
  %1 = "tiny.permute"(%0) {perm = array<i64: 1, 0>} : (!tensor) -> !tensor
  "region.yield"(%1, %y) {materialize = "gmem"} : (!tensor, !buffer) -> ()
  omp.terminator
}) {sym_name = "turn"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %z: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> !tensor
  %1 = "region.read"(%z) : (!buffer) -> !tensor
  %2 = "tiny.add"(%0, %1) : (!tensor, !tensor) -> !tensor
  "region.yield"(%2, %y) {materialize = "gmem"} : (!tensor, !buffer) -> ()
  omp.terminator
}) {sym_name = "add"} : () -> ()
func.func @main(%a: !tensor) -> !tensor {
  %double = "region.launch"() {kernel = @double} : () -> ((!tensor) -> !tensor)
  %turn = "region.launch"() {kernel = @turn} : () -> ((!tensor) -> !tensor)
  %add = "region.launch"() {kernel = @add} : () -> ((!tensor, !tensor) -> !tensor)
  %0 = func.call_indirect %double(%a) : (!tensor) -> !tensor
  %1 = func.call_indirect %double(%0) : (!tensor) -> !tensor
  %2 = func.call_indirect %turn(%1) : (!tensor) -> !tensor
  %3 = func.call_indirect %add(%1, %2) : (!tensor, !tensor) -> !tensor
  %4 = func.call_indirect %add(%1, %3) : (!tensor, !tensor) -> !tensor
  return %4 : !tensor
}
