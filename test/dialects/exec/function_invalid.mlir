// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// What the ops of a host function say of each other, wrongly. Each case has the kernel @copy, from one 16-byte buffer to
// another.

func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{buffer 'output_0' has size 12, and its tensor takes 16 bytes; write size 16}}
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 12, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{parameter: there is no buffer 'temp_0'; there are input_0, output_0}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// expected-error @+1 {{the 2 outputs need buffers output_0, output_1, … in order; there are ['output_0']}}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{there is no kernel @copy in the module; it has none}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y", "z"], arena_bytes = 0} : () -> ()

// -----

// A kernel writes no input, sees a buffer in its own element type and size, and says truly what it reads and writes.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{@copy writes the input 'input_0'; write an output or the arena}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>], reads = [], writes = ["input_0"]} : () -> ()
  // expected-error @+1 {{parameter: buffer 'input_0' holds f32, not i32; pass it as f32}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xi32>>], reads = ["input_0"], writes = []} : () -> ()
  // expected-error @+1 {{parameter: buffer 'input_0' has 4 elements, not 5; pass it with as many}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<5xf32>>], reads = ["input_0"], writes = []} : () -> ()
  // expected-error @+1 {{reads and writes must name the buffers of the parameters, input_0}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>], reads = [], writes = []} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = [], arena_bytes = 0} : () -> ()

// -----

// A symbol is listed.
// expected-error @+1 {{the symbols N are not among the function's, ['M']; add them to 'symbols'}}
"exec.function"() ({
  "exec.assume"() {lhs = "M", predicate = "le", rhs = "N"} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = [], outputs = [], arena_bytes = 0} : () -> ()

// -----

// A buffer is written before it is read, and in an earlier generation.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{no kernel writes buffer 'output_0'; write it, or drop it}}
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  // expected-error @+1 {{@copy reads 'temp_0', which no earlier generation writes; write it in one}}
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  // expected-error @+2 {{generation 0 comes after generation 1; order the kernels by it}}
  // expected-error @+1 {{@copy writes 'temp_1', which has been written before; write another buffer, or read it too}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_1"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 512} : () -> ()

// -----

// Buffers that are alive together share no byte, start at a multiple of 256, and lie inside the arena.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+3 {{buffer 'temp_1' is at 8, not a multiple of 256; round its offset up}}
  // expected-error @+2 {{buffer 'temp_1' ends at byte 24, and the arena at 16; give arena_bytes >= 24}}
  // expected-error @+1 {{buffers 'temp_0' and 'temp_1' overlap in the arena, and both are alive in generation 1; move 'temp_1' to offset >= 256}}
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 8, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = [], arena_bytes = 16} : () -> ()

// -----

// With symbolic sizes, the sizes at which two buffers meet are named.
func.func private @copy(memref<?xf32>, memref<?xf32>, index, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  // expected-error @+1 {{buffers 'temp_0' and 'temp_1' overlap in the arena, and both are alive in generation 1 at M = 150; move 'temp_1' to offset >= 768}}
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 256, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.extent<"M">], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_1", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.extent<"M">], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = ["x"], outputs = [], arena_bytes = "8*M + 256"} : () -> ()

// -----

// An arena that is the largest of several extents is too small at the sizes where none of them is large enough.
func.func private @copy(memref<?xf32>, memref<?xf32>, index, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  // expected-error @+1 {{buffer 'temp_1' ends at byte 1368, and the arena at 1024 at M = 150; give arena_bytes >= 1368}}
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = "256*((M - 1) floordiv 64) + 256", size = "4*M", tensor = tensor<?xf32, #tiny.dims<["M"]>>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.extent<"M">], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = ["M", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.ptr<"temp_1", tensor<?xf32, #tiny.dims<["M"]>>>, #exec.extent<"M">], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = ["x"], outputs = [], arena_bytes = ["4*M", 1024]} : () -> ()

// -----

// Sizes that the assumptions exclude do not count: at M = 1 the second buffer would start before the arena.
func.func private @copy(memref<?xf32>, memref<?xf32>, index, index, index)
"exec.function"() ({
  "exec.assume"() {lhs = 5, predicate = "le", rhs = "M"} : () -> ()
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = "4*M - 16", tensor = tensor<?xf32, #tiny.dims<["M - 4"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = "4*M - 16", tensor = tensor<?xf32, #tiny.dims<["M - 4"]>>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = "256*M - 512", size = "4*M - 16", tensor = tensor<?xf32, #tiny.dims<["M - 4"]>>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = ["M - 4", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<?xf32, #tiny.dims<["M - 4"]>>>, #exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M - 4"]>>>, #exec.extent<"M">], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = ["M - 4", 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<?xf32, #tiny.dims<["M - 4"]>>>, #exec.ptr<"temp_1", tensor<?xf32, #tiny.dims<["M - 4"]>>>, #exec.extent<"M">], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = ["x"], outputs = [], arena_bytes = "260*M - 528"} : () -> ()

// -----

// All buffers are in one memory.
// expected-error @+1 {{its buffers are in different memories, device and host; write one memory_space}}
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "input_1", kind = "input", memory_space = "device", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x", "y"], outputs = [], arena_bytes = 0} : () -> ()

// -----

// A kernel is where its buffers are.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "device", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "device", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{@copy works on host memory, and its buffers are in device memory; give them memory_space 'host'}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [1, 1, 1], block = [32, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["input_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// A block is one that every GPU can have, a cluster one that some GPU can have, and shared memory, too.
gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "device", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{@k has a CTA of 65 threads along z; it must be 1 … 64}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 65], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+1 {{@k has a CTA of 2048 threads; it must be at most 1024}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [64, 32, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+1 {{@k has a grid of 1 x 1 x 1 CTAs, which clusters of 2 x 1 x 1 do not divide}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [64, 1, 1], cluster = [2, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+1 {{@k has clusters of 16 x 1 x 1 CTAs; they may have 8}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [16, 1, 1], block = [64, 1, 1], cluster = [16, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+1 {{@k has clusters of 0 x 1 x 1 CTAs; each size must be a number, at least 1}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [16, 1, 1], block = [64, 1, 1], cluster = [0, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+1 {{@k has 232449 bytes of dynamic shared memory; it must be 0 … 232448}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [16, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 232449, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// What a kernel updates has been written in an earlier generation, and nothing else of its own generation reads it.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_1", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{@copy reads 'output_0', which no earlier generation writes; write it in one}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["input_0", "output_0"], writes = ["output_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["input_0", "output_0"], writes = ["output_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>, #exec.ptr<"output_1", tensor<4xf32>>], reads = ["output_0"], writes = ["output_1"]} : () -> ()
  // expected-error @+1 {{@copy updates 'output_0', which a kernel of the same generation reads; update it in a later one}}
  "exec.kernel"() {symbol = @copy, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["input_0", "output_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y", "z"], arena_bytes = 0} : () -> ()

// -----

// Buffers have names of their own; only those of the arena have an offset.
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{two buffers are called 'input_0'; give each its own name}}
  "exec.buffer"() {buffer = "input_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{buffer 'output_0' is an output, not part of the arena; its offset must be 0}}
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 64} : () -> ()

// -----

// A kernel is one of the module, and has a status slot of its own.
func.func private @a(memref<4xf32>, memref<2xi64>, index, index)
func.func private @b(memref<4xf32>, memref<2xi64>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_1", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{status slot 0 belongs to two kernels; give each its own slot}}
  "exec.kernel"() {symbol = @a, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>, #exec.status<0>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+2 {{status slot 0 belongs to two kernels; give each its own slot}}
  // expected-error @+1 {{there is no kernel @c in the module; it has @a, @b}}
  "exec.kernel"() {symbol = @c, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_1", tensor<4xf32>>, #exec.status<0>], reads = [], writes = ["output_1"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y", "z"], arena_bytes = 0} : () -> ()

// -----

// No buffer starts before the arena.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{buffer 'temp_0' is at -256, before the arena; move it to offset >= 0}}
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = -256, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = [], arena_bytes = 64} : () -> ()

// -----

// A buffer of the arena that no kernel names has no lifetime, and is found all the same.
"exec.function"() ({
  // expected-error @+1 {{no kernel writes buffer 'temp_0'; write it, or drop it}}
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = 256} : () -> ()

// -----

// A tensor map is of a buffer that the kernel has a pointer to, of its elements, and of symbols that are listed.
gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "device", offset = 0, size = 64, tensor = tensor<4x4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "device", offset = 0, size = 64, tensor = tensor<4x4xf32>} : () -> ()
  // expected-error @+1 {{parameter: @k has a tensor map of 'input_0', and no pointer to it; pass one, too}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4x4xf32>>, #exec.tensor_map<"input_0", f32, [4, 4], [16], [4, 4], 0>], reads = [], writes = ["output_0"]} : () -> ()
  // expected-error @+1 {{parameter: a tensor map of 'output_0' is of f16, and the buffer holds f32; write f32}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4x4xf32>>, #exec.tensor_map<"output_0", f16, [4, 4], [16], [8, 4], 0>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "device", offset = 0, size = 64, tensor = tensor<4x4xf32>} : () -> ()
  // expected-error @+1 {{the symbols N are not among the function's, []; add them to 'symbols'}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [64, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4x4xf32>>, #exec.tensor_map<"output_0", f32, ["N", 4], [16], [4, 4], 0>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()

// -----

// On the host there are none.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{@copy works on host memory, and takes tensor maps, which are a GPU's}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>, #exec.tensor_map<"output_0", f32, [4], [], [4], 0>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0} : () -> ()
