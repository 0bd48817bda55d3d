// RUN: tinyc-opt --exec-to-llvm --split-input-file %s | filecheck %s
// RUN: tinyc-opt --split-input-file --pass-pipeline='builtin.module(exec-to-llvm,arith-expand,convert-scf-to-cf,finalize-memref-to-llvm,convert-arith-to-llvm,convert-cf-to-llvm,convert-func-to-llvm,reconcile-unrealized-casts)' %s | filecheck %s --check-prefix=LOWERED

// Nothing of the host function is left after MLIR's own passes, and no unresolved cast.
// LOWERED-NOT: unrealized_conversion_cast
// LOWERED: llvm.func internal @loops.copy(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: i64
// LOWERED: llvm.func @kernel_main(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)

// The loops take pointers that alias nothing and make the memrefs themselves, with the strides of the symbolic shape.
// CHECK-LABEL: func.func @loops.copy(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr {llvm.noalias}, %[[Y:.*]]: !llvm.ptr {llvm.noalias}, %[[S:.*]]: !llvm.ptr {llvm.noalias}, %[[M:.*]]: index, %{{.*}}: index, %{{.*}}: index) attributes {llvm.linkage = #llvm.linkage<internal>}
// CHECK: %[[COUNT:.*]] = arith.index_cast %[[M]] : index to i64
// CHECK: %[[D:.*]] = llvm.insertvalue %[[COUNT]], %{{.*}}[3, 0]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?x3xf32>

// The CPU ABI of a kernel: the pointers in the order of the parameters, the status slot last, then the extents.
// CHECK-LABEL: func.func @kernel.copy(
// CHECK-SAME: %[[BUFS:.*]]: !llvm.ptr, %[[EXTENTS:.*]]: !llvm.ptr, %[[LO:.*]]: i64, %[[HI:.*]]: i64)
// CHECK: %[[FIRST:.*]] = llvm.load %[[BUFS]]
// CHECK: llvm.getelementptr %[[BUFS]][1]
// CHECK: llvm.getelementptr %[[BUFS]][2]
// CHECK: llvm.load %[[EXTENTS]]
// CHECK: call @loops.copy(%[[FIRST]],

// kernel_impl gives each launch its buffers and its status slot of 16 bytes, one generation after the other.
// CHECK-LABEL: func.func @kernel_impl(
// CHECK-SAME: %[[IN:.*]]: !llvm.ptr, %[[OUT:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[STATUS:.*]]: !llvm.ptr, %[[M:.*]]: i64)
// CHECK: %[[TEMP:.*]] = llvm.getelementptr %[[ARENA]][
// CHECK: llvm.store %[[IN]],
// CHECK: llvm.store %[[TEMP]],
// CHECK: call @kernel.copy(%{{.*}}, %{{.*}}, %c0_i64, %[[M]])
// CHECK: llvm.getelementptr %[[STATUS]][%c288_i64]
// CHECK: llvm.store %[[TEMP]],
// CHECK: llvm.store %[[OUT]],
// CHECK: call @kernel.copy(

// kernel_main unpacks: inputs, outputs, arena, status; then the symbols.
// CHECK-LABEL: func.func @kernel_main(
// CHECK: call @kernel_impl(
// CHECK-NOT: exec.
func.func @copy(%x: memref<?x3xf32>, %y: memref<?x3xf32>, %status: memref<36xi64>, %m: index, %low: index, %high: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %low to %high step %c1 {
    %0 = memref.load %x[%i, %c1] : memref<?x3xf32>
    memref.store %0, %y[%i, %c1] : memref<?x3xf32>
  }
  return
}
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = "12*M", tensor = tensor<?x3xf32, #tiny.dims<["M", 3]>>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = "12*M", tensor = tensor<?x3xf32, #tiny.dims<["M", 3]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = "12*M", tensor = tensor<?x3xf32, #tiny.dims<["M", 3]>>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<?x3xf32, #tiny.dims<["M", 3]>>>, #exec.ptr<"temp_0", tensor<?x3xf32, #tiny.dims<["M", 3]>>>, #exec.status<0>, #exec.extent<"M">], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?x3xf32, #tiny.dims<["M", 3]>>>, #exec.ptr<"output_0", tensor<?x3xf32, #tiny.dims<["M", 3]>>>, #exec.status<1>, #exec.extent<"M">], reads = ["temp_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = ["x"], outputs = ["y"], arena_bytes = "64*((3*M - 1) floordiv 16) + 64"} : () -> ()

// -----

// Loops that are launched in place and not have two functions: of the one in place the pointer to what is overwritten is
// not used, so that it, too, aliases nothing. Which one runs, the pointers tell.
// CHECK-LABEL: func.func @loops.relu.0_1(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias}, %[[Y:.*]]: !llvm.ptr {llvm.noalias},
// CHECK: llvm.insertvalue %[[Y]], %{{.*}}[0]
// CHECK: llvm.insertvalue %[[Y]], %{{.*}}[0]
// CHECK-LABEL: func.func @loops.relu(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr {llvm.noalias}, %[[Y:.*]]: !llvm.ptr {llvm.noalias},
// CHECK: llvm.insertvalue %[[X]], %{{.*}}[0]
// CHECK: llvm.insertvalue %[[Y]], %{{.*}}[0]
// CHECK-LABEL: func.func @kernel.relu(
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK: scf.if %[[SAME]] {
// CHECK: call @loops.relu.0_1(
// CHECK: } else {
// CHECK: call @loops.relu(
func.func @relu(%x: memref<4xf32>, %y: memref<4xf32>, %low: index, %high: index) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %low to %high step %c1 {
    %0 = memref.load %x[%i] : memref<4xf32>
    %1 = arith.maximumf %0, %zero : f32
    memref.store %1, %y[%i] : memref<4xf32>
  }
  return
}
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 256} : () -> ()
