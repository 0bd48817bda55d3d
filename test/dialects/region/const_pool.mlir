// RUN: tinyc-opt --stock-printing --tiny-to-region=fusion=none --region-to-exec --split-input-file %s | filecheck %s

// Weights, constants and what is made of these alone lie in the ConstPool, one behind the other. Equal constants are one.
// What needs no input runs once, first, in generations of its own; what gives a result runs each time.
// CHECK: "exec.buffer"() {buffer = "input_0", {{.*}}kind = "input"
// CHECK: "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0 : i64, size = 48 : i64, tensor = tensor<3x4xf32>}
// CHECK: "exec.buffer"() {buffer = "constant_0", {{.*}}kind = "constant", memory_space = "host", offset = 256 : i64, size = 16 : i64, tensor = tensor<4xf32>, value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>}
// CHECK-NOT: "constant_1"
// CHECK: "exec.buffer"() {buffer = "prepared_0", {{.*}}kind = "prepared", memory_space = "host", offset = 512 : i64
// CHECK: "exec.buffer"() {buffer = "prepared_1", {{.*}}kind = "prepared", memory_space = "host", offset = 768 : i64
// CHECK: "exec.kernel"() {{.*}}generation = 0 : i64, {{.*}}prepare, reads = ["weight_0"], symbol = @reduce_sum, writes = ["prepared_0"]
// CHECK: "exec.kernel"() {{.*}}generation = 1 : i64, {{.*}}prepare, reads = ["prepared_0", "constant_0"], symbol = @elementwise_add, writes = ["prepared_1"]
// CHECK: "exec.kernel"() {{.*}}generation = 2 : i64, {{.*}}reads = ["constant_0"], symbol = @elementwise_{{.*}}, writes = ["output_1"]
// CHECK: "exec.kernel"() {{.*}}generation = 2 : i64, {{.*}}writes = ["output_0"]
// CHECK: inputs = ["x"], outputs = ["y", "z"], pool_bytes = 1024 : i64, sym_name = "main", symbols = [], weights = ["w"]
func.func @main(%w: tensor<3x4xf32> {tiny.name = "w", tiny.weight}, %x: tensor<4xf32> {tiny.name = "x"}) -> (tensor<4xf32> {tiny.name = "y"}, tensor<4xf32> {tiny.name = "z"}) {
  %one = "tiny.const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %two = "tiny.const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %s = "tiny.reduce"(%w) {op = "sum", axes = array<i64: 0>} : (tensor<3x4xf32>) -> tensor<4xf32>
  %t = "tiny.add"(%s, %one) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "tiny.mul"(%t, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = "tiny.add"(%one, %two) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}

// -----

// Random numbers are new in each run: what draws them is not made once, though it reads weights only.
// CHECK: "exec.buffer"() {buffer = "temp_0"
// CHECK-NOT: prepare
// CHECK: weights = ["w"]
func.func @main(%w: tensor<4xf32> {tiny.name = "w", tiny.weight}, %x: tensor<4xf32> {tiny.name = "x"}) -> tensor<4xf32> {
  %r = "tiny.rand"() {distribution = "uniform", seed = 1 : i64, stream = 0 : i64} : () -> tensor<4xf32>
  %a = "tiny.add"(%w, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %y = "tiny.mul"(%a, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A constant that is a result, or under a movement one, is copied by a kernel.
// CHECK: "exec.kernel"() {{.*}}reads = ["constant_0"], {{.*}}writes = ["output_1"]
// CHECK: "exec.kernel"() {{.*}}reads = ["constant_0"], {{.*}}writes = ["output_0"]
func.func @main() -> (tensor<2x2xi1>, tensor<4xi1>) {
  %c = "tiny.const"() {value = dense<[[true, false], [false, false]]> : tensor<2x2xi1>} : () -> tensor<2x2xi1>
  %r = "tiny.reshape"(%c) : (tensor<2x2xi1>) -> tensor<4xi1>
  return %c, %r : tensor<2x2xi1>, tensor<4xi1>
}
