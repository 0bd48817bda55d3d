// RUN: tinyc-opt --verify-roundtrip %s | filecheck %s
// RUN: tinyc-opt --exec-to-llvm %s | filecheck %s --check-prefix=CODE

// A program with a ConstPool. Its address is the last that the entries take; what fills it has entries of its own.
// CHECK: kind = "constant", {{.*}}value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00]> : tensor<4xf32>
// CHECK: generation = 0 : i64, {{.*}}prepare,
// CHECK: pool_bytes = 768 : i64, {{.*}}weights = ["w"]
// CODE-LABEL: func.func @kernel_impl(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr)
// CODE-COUNT-1: call @kernel.copy
// CODE-LABEL: func.func @kernel_main(
// CODE-LABEL: func.func @prepare_impl(
// CODE-COUNT-1: call @kernel.copy
// CODE-LABEL: func.func @prepare_main(
func.func @copy(%x: memref<4xf32>, %y: memref<4xf32>, %low: index, %high: index) {
  return
}
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "constant_0", kind = "constant", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>, value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "prepared_0", kind = "prepared", memory_space = "host", offset = 512, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"constant_0", tensor<4xf32>>, #exec.ptr<"prepared_0", tensor<4xf32>>], reads = ["constant_0"], writes = ["prepared_0"], prepare} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"prepared_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["prepared_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 768} : () -> ()
