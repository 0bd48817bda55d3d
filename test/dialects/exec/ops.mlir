// RUN: tinyc-opt --stock-printing --verify-roundtrip %s | filecheck %s

// Every op of the layer prints and parses back: sizes and offsets are integers or canonical text, parameters say what
// they are, and two buffers whose generations do not meet share a place in the arena.
// CHECK-LABEL: "exec.function"
// CHECK: "exec.assume"() {lhs = "M", predicate = "le", rhs = "2*N"}
// CHECK: "exec.buffer"() {buffer = "input_0", kind = "input"
// CHECK: "exec.buffer"() {buffer = "temp_1", kind = "arena"
// CHECK-SAME: offset = "256*((M - 1) floordiv 64) + 256", size = "4*M"
// CHECK: "exec.kernel"()
// CHECK-SAME: parameters = [#exec.ptr<"input_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_0", {{.*}}>, #exec.status<0 : i64>, #exec.extent<"M">]
// CHECK-SAME: reads = ["input_0"]
// CHECK-SAME: writes = ["temp_0"]
// CHECK: {arena_bytes = "512*((M - 1) floordiv 64) + 512", inputs = ["x", "unused"], outputs = ["y"], sym_name = "main", symbols = ["M", "N"]}
func.func @k(%x: memref<?xf32>, %y: memref<?xf32>, %status: memref<36xi64>, %m: index, %low: index, %high: index) {
  return
}
"exec.function"() ({
  "exec.assume"() {lhs = "M", predicate = "le", rhs = "2*N"} : () -> ()
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "input_1", kind = "input", memory_space = "host", offset = 0, size = "N", tensor = tensor<?xi1, #tiny.dims<["N"]>>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = "256*((M - 1) floordiv 64) + 256", size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_2", kind = "arena", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 0, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.status<0>, #exec.extent<"M">], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 1, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_1", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.status<1>, #exec.extent<"M">], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 2, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_2", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.status<2>, #exec.extent<"M">], reads = ["temp_1"], writes = ["temp_2"]} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 3, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_2", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"output_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.status<3>, #exec.extent<"M">], reads = ["temp_2"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M", "N"], inputs = ["x", "unused"], outputs = ["y"], arena_bytes = "512*((M - 1) floordiv 64) + 512"} : () -> ()

// A launch may say what it writes in place: the two buffers are at one offset, and apart from what is alive besides.
// CHECK: buffer = "temp_0", kind = "arena", memory_space = "host", offset = 256
// CHECK: buffer = "temp_1", kind = "arena", memory_space = "host", offset = 256
// CHECK: generation = 1 : i64, {{.*}}in_place = {{\[\[}}"temp_0", "temp_1"]]
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<4xf32>>], reads = [], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @k, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "second", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 512} : () -> ()

// A launch on a GPU may have clusters, dynamic shared memory and tensor maps.
// CHECK: cluster = [2, 1, 1], dynamic_shared_bytes = 65536 : i64
// CHECK-SAME: #exec.tensor_map<"output_0", f16, ["K", "M"], ["2*K"], [64, 128], 128 : i64>]
!matrix = tensor<?x?xf16, #tiny.dims<["M", "K"]>>
gpu.module @kernels {
  gpu.func @fill() kernel {
    gpu.return
  }
}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "device", offset = 0, size = "2*K*M", tensor = !matrix} : () -> ()
  "exec.kernel"() {symbol = @fill, generation = 0, grid = ["2*M", 1, 1], block = [128, 1, 1], cluster = [2, 1, 1], dynamic_shared_bytes = 65536, parameters = [#exec.ptr<"output_0", !matrix>, #exec.tensor_map<"output_0", f16, ["K", "M"], ["2*K"], [64, 128], 128>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "third", symbols = ["M", "K"], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// The size of the arena may be the largest of several extents: what is alive alone may be the larger one.
// CHECK: arena_bytes = ["256*((M - 1) floordiv 64) + 256", 256], inputs = [], outputs = ["y"], sym_name = "fourth"
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "device", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "device", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "device", offset = 0, size = 256, tensor = tensor<64xf32>} : () -> ()
  "exec.kernel"() {symbol = @fill, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<64xf32>>], reads = [], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @fill, generation = 1, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>], reads = [], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @fill, generation = 2, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"output_0", tensor<?xf32, #tiny.dims<["M"]>>>], reads = ["temp_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "fourth", symbols = ["M"], inputs = [], outputs = ["y"], arena_bytes = ["256*((M - 1) floordiv 64) + 256", 256]} : () -> ()
