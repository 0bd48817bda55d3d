// RUN: tinyc-opt --stock-printing --region-to-exec --split-input-file %s | filecheck %s

// A kernel that is a gpu.func states its grid, its block and its parameters; all buffers are the device's.
// CHECK: gpu.func @relu
// CHECK: "exec.function"
// CHECK: buffer = "input_0", kind = "input", memory_space = "device"
// CHECK: buffer = "output_0", kind = "output", memory_space = "device"
// CHECK: "exec.kernel"() {block = [256, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0 : i64, generation = 0 : i64, grid = ["(M - 1) floordiv 256 + 1", 1, 1], parameters = [#exec.ptr<"input_0", {{.*}}>, #exec.ptr<"output_0", {{.*}}>, #exec.extent<"M">], reads = ["input_0"], symbol = @relu, writes = ["output_0"]}
// CHECK: symbols = ["M"]
!vector = tensor<?xf32, #tiny.dims<["M"]>>
!buffer = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @relu(%x: !buffer {tgpu.name = "X"}, %y: !buffer {tgpu.name = "Y"}, %m: index {tgpu.extent = "M"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["(M - 1) floordiv 256 + 1", 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!buffer) -> !vector
      %1 = "tiny.relu"(%0) : (!vector) -> !vector
      "region.yield"(%1, %y) {materialize = "gmem"} : (!vector, !buffer) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
}
func.func @main(%a: !vector) -> !vector {
  %k = "region.launch"() {kernel = @relu} : () -> ((!vector) -> !vector)
  %0 = func.call_indirect %k(%a) : (!vector) -> !vector
  return %0 : !vector
}

// -----

// A kernel with an init is two launches, one generation apart: the second updates what the first has written. All that
// they work on stays in place until both are done, so the result of the first kernel is not where the sum is; each has
// a status slot of its own. The axis that a statement pads has to have a size.
// CHECK: "exec.assume"() {lhs = 0 : i64, predicate = "le", rhs = "M - 5"}
// CHECK: buffer = "temp_0", kind = "arena", memory_space = "device", offset = 0 : i64
// CHECK: buffer = "temp_1", kind = "arena", memory_space = "device", offset = "256*((M - 1) floordiv 64) + 256"
// CHECK: generation = 0 : i64, {{.*}} symbol = @ramp, writes = ["temp_0"]
// CHECK: generation = 1 : i64, {{.*}} #exec.status<0 : i64>, #exec.extent<"M">], reads = ["temp_0", "input_1"], symbol = @add_init, writes = ["temp_1"]
// CHECK: generation = 2 : i64, {{.*}} #exec.status<1 : i64>, #exec.extent<"M">], reads = ["temp_0", "input_1", "temp_1"], symbol = @add, writes = ["temp_1"]
// CHECK: generation = 3 : i64, {{.*}} reads = ["temp_1"], symbol = @copy, writes = ["output_0"]
!vector = tensor<?xf32, #tiny.dims<["M"]>>
!indices = tensor<?xi64, #tiny.dims<["M"]>>
!buffer = !region.memref<tensor<?xf32, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!index_buffer = !region.memref<tensor<?xi64, #tiny.dims<["M"]>>, [1], 128 : i64, true>
!status = memref<36xi64, #gpu.address_space<global>>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @ramp(%x: !buffer {tgpu.name = "X"}, %y: !buffer {tgpu.name = "Y"}, %m: index {tgpu.extent = "M"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    "tgpu.map"() ({
      %0 = "region.read"(%x) : (!buffer) -> !vector
      %1 = "tiny.iota"() {axis = 0} : () -> tensor<?xf32, #tiny.dims<["M - 5"]>>
      %2 = "tiny.pad"(%1) {lo = array<i64: 5>, hi = array<i64: 0>, value = 0.0 : f32}
        : (tensor<?xf32, #tiny.dims<["M - 5"]>>) -> !vector
      %3 = "region.read"(%x) : (!buffer) -> !vector
      %4 = "tiny.add"(%2, %3) : (!vector, !vector) -> !vector
      "region.yield"(%4, %y) {materialize = "gmem"} : (!vector, !buffer) -> ()
      omp.terminator
    }) : () -> ()
    gpu.return
  }
  gpu.func @add_init(%x: !buffer {tgpu.name = "X"}, %i: !index_buffer {tgpu.name = "I"}, %y: !buffer {tgpu.name = "Y"},
      %status: !status {tgpu.status}, %m: index {tgpu.extent = "M"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    gpu.return
  }
  gpu.func @add(%x: !buffer {tgpu.name = "X"}, %i: !index_buffer {tgpu.name = "I"}, %y: !buffer {tgpu.name = "Y"},
      %status: !status {tgpu.status}, %m: index {tgpu.extent = "M"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.init = @add_init} {
    gpu.return
  }
  gpu.func @copy(%x: !buffer {tgpu.name = "X"}, %y: !buffer {tgpu.name = "Y"}, %m: index {tgpu.extent = "M"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    gpu.return
  }
}
func.func @main(%a: !vector, %i: !indices) -> !vector {
  %ramp = "region.launch"() {kernel = @ramp} : () -> ((!vector) -> !vector)
  %0 = func.call_indirect %ramp(%a) : (!vector) -> !vector
  %add = "region.launch"() {kernel = @add} : () -> ((!vector, !indices) -> !vector)
  %1 = func.call_indirect %add(%0, %i) : (!vector, !indices) -> !vector
  %copy = "region.launch"() {kernel = @copy} : () -> ((!vector) -> !vector)
  %2 = func.call_indirect %copy(%1) : (!vector) -> !vector
  return %2 : !vector
}

// -----

// Kernels that only another host function launches are gone with it, and those that go before them.
// CHECK-NOT: @idle
// CHECK: gpu.func @busy
// CHECK: "exec.function"
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @idle_init(%x: !buffer {tgpu.name = "X"}, %y: !buffer {tgpu.name = "Y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    gpu.return
  }
  gpu.func @idle(%x: !buffer {tgpu.name = "X"}, %y: !buffer {tgpu.name = "Y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.init = @idle_init} {
    gpu.return
  }
  gpu.func @busy(%x: !buffer {tgpu.name = "X"}, %y: !buffer {tgpu.name = "Y"})
      kernel attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = [1, 1, 1]} {
    gpu.return
  }
}
func.func @other(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = "region.launch"() {kernel = @idle} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = func.call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = "region.launch"() {kernel = @busy} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = func.call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A function says which of its buffers may be one memory: its result takes the place of an operand that is spent.
// CHECK: buffer = "temp_0", kind = "arena", memory_space = "device", offset = 0
// CHECK: buffer = "temp_1", kind = "arena", memory_space = "device", offset = 0
// CHECK: generation = 0 : i64, grid = [1, 1, 1], parameters
// CHECK: generation = 1 : i64, grid = [1, 1, 1], in_place = {{\[\[}}"temp_0", "temp_1"]]
// CHECK: generation = 2 : i64, grid = [1, 1, 1], parameters
// CHECK: arena_bytes = 256 : i64
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
  gpu.func @relu(%x: !buffer, %y: !buffer) kernel
      attributes {known_block_size = array<i32: 4, 1, 1>, tgpu.grid = [1, 1, 1], tgpu.in_place = [array<i64: 0, 1>]} {
    "tgpu.map_runs"() ({
      %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
      %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
      "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
      omp.terminator
    }) {width = 1 : i64} : () -> ()
    gpu.return
  }
}
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %k = "region.launch"() {kernel = @relu} : () -> ((tensor<4xf32>) -> tensor<4xf32>)
  %0 = func.call_indirect %k(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call_indirect %k(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = func.call_indirect %k(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A kernel states its cluster, its dynamic shared memory and its tensor maps; of an alternative the launch has the
// sizes at which, and the relations where it takes the kernel's place.
// CHECK: "exec.kernel"() {block = [256, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0 : i64, exec.alternatives = [{block = [128, 1, 1], cluster = [2, 1, 1], dynamic_shared_bytes = 65536 : i64, grid = [8, 1, 1], guards = {{\[\[}}"8*(K floordiv 8)", "eq", "K"], ["M", "le", 4096]], parameters = [#exec.ptr<"input_0", {{.*}}>, #exec.ptr<"output_0", {{.*}}>, #exec.extent<"M">, #exec.extent<"K">, #exec.tensor_map<"input_0", f16, ["K", "M"], ["2*K"], [64, 128], 128 : i64>, #exec.tensor_map<"output_0", f16, ["K", "M"], ["2*K"], [64, 64], 0 : i64>], symbol = @tma}], generation = 0
!matrix = tensor<?x?xf16, #tiny.dims<["M", "K"]>>
!buffer = !region.memref<tensor<?x?xf16, #tiny.dims<["M", "K"]>>, ["K", 1], 128 : i64, true>
gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] {
  gpu.func @copy(%x: !buffer, %y: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"}) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tgpu.grid = ["M", 1, 1]} {
    gpu.return
  }
  gpu.func @tma(%x: !buffer, %y: !buffer, %m: index {tgpu.extent = "M"}, %k: index {tgpu.extent = "K"},
      %from: !tgpu.tensor_map {tgpu.tensor_map = {
        buffer = 0 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 128], swizzle = 128 : i64}},
      %to: !tgpu.tensor_map {tgpu.tensor_map = {
        buffer = 1 : i64, dims = ["K", "M"], strides = ["2*K"], box = [64, 64], swizzle = 0 : i64}}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tgpu.grid = [8, 1, 1], tgpu.cluster = array<i32: 2, 1, 1>,
        tgpu.dynamic_shared_bytes = 65536 : i64, tgpu.guards = [["8*(K floordiv 8)", "eq", "K"], ["M", "le", 4096]]} {
    gpu.return
  }
}
func.func @main(%a: !matrix) -> !matrix {
  %k = "region.launch"() {kernel = @copy, alternatives = [@tma]} : () -> ((!matrix) -> !matrix)
  %0 = func.call_indirect %k(%a) : (!matrix) -> !matrix
  return %0 : !matrix
}
