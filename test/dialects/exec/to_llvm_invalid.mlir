// RUN: tinyc-opt --exec-to-llvm --split-input-file --verify-diagnostics %s

// A kernel has to be loops by now.
// expected-error @unknown {{the kernel is not a function yet; run --region-to-loops first [TC309 InvalidIr]}}
"region.kernel"() ({
^bb0(%y: !region.memref<tensor<4xf32>, [1], 128 : i64, true>):
  %0 = "tiny.const"() {value = 1.0 : f32} : () -> tensor<4xf32>
  "region.yield"(%0, %y) {materialize = "gmem"} : (tensor<4xf32>, !region.memref<tensor<4xf32>, [1], 128 : i64, true>) -> ()
  omp.terminator
}) {sym_name = "one"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @one, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// The function takes what the launch contract gives.
// expected-error @unknown {{the function takes memref<5xf32>, index, index; its launch contract asks for f32 [4] and 2 indices}}
func.func @one(%y: memref<5xf32>, %low: index, %high: index) {
  return
}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @one, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// Memory of 16-bit floats is that of their bits.
func.func @one(%y: memref<4xbf16>, %low: index, %high: index) {
  // expected-error @+1 {{'memref.copy' takes a memref of 16-bit floats, which lie in memory as their bits; load and store elements of it}}
  memref.copy %y, %y : memref<4xbf16> to memref<4xbf16>
  return
}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 8, tensor = tensor<4xbf16>} : () -> ()
  "exec.kernel"() {symbol = @one, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xbf16>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// The symbols of the shapes are parameters.
// expected-error @unknown {{the shapes of the parameters have the symbols M, which are not parameters; add #exec.extent<…> for each}}
func.func @one(%y: memref<?xf32>, %low: index, %high: index) {
  return
}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.kernel"() {symbol = @one, generation = 0, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<?xf32, #tiny.dims<["M"]>>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// There is one host function.
// expected-error @unknown {{the module has 0 exec.functions and needs one; --region-to-exec makes it}}
func.func @f() {
  return
}
