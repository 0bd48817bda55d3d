// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// What is wrong with a ConstPool. Each case has the kernel @copy, from one 16-byte buffer to another.

// A constant has its elements, and nothing else has some.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{'exec.buffer' 'constant_0' is of kind 'constant' and needs its elements in 'value'}}
  "exec.buffer"() {buffer = "constant_0", kind = "constant", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// They are those of its tensor.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{'exec.buffer' 'constant_0': 'value' must be the elements of a tensor<4xf32>}}
  "exec.buffer"() {buffer = "constant_0", kind = "constant", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>, value = dense<1> : tensor<4xi32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// A weight has none: it is given.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{'exec.buffer' 'weight_0' is of kind 'weight' and has a 'value', and is no constant}}
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>, value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// Places are multiples of 256, one behind the other, in the pool.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{'constant_0' is at 8, not a multiple of 256; round its offset up}}
  // expected-error @below {{'constant_0' is at 8, and 'weight_0' ends at 16; the buffers of the pool lie one behind the other: move it there}}
  "exec.buffer"() {buffer = "constant_0", kind = "constant", memory_space = "host", offset = 8, size = 16, tensor = tensor<4xf32>, value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> ()
  // expected-error @below {{'constant_1' ends at byte 528, and the pool at 512; give pool_bytes >= 528}}
  "exec.buffer"() {buffer = "constant_1", kind = "constant", memory_space = "host", offset = 512, size = 16, tensor = tensor<4xf32>, value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// Weights are named in order.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
// expected-error @below {{the 1 weights need buffers weight_0, weight_1, … in order; there are []}}
"exec.function"() ({
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"output_0", tensor<4xf32>>], reads = [], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// Nothing writes a weight or a constant.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "constant_0", kind = "constant", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>, value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> ()
  // expected-error @below {{@copy writes the weight 'weight_0'; write an output or the arena}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"constant_0", tensor<4xf32>>, #exec.ptr<"weight_0", tensor<4xf32>>], reads = ["constant_0"], writes = ["weight_0"]} : () -> ()
  // expected-error @below {{@copy writes the constant 'constant_0'; write an output or the arena}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"constant_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["constant_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// What is prepared is written once, before all runs, of the pool alone.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "prepared_0", kind = "prepared", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{@copy is of the stage 'prepare' and works on 'input_0', of kind 'input'; it may read the pool and write 'prepared' buffers}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"prepared_0", tensor<4xf32>>], reads = ["input_0"], writes = ["prepared_0"], prepare} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"prepared_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["prepared_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// A run does not write it.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "prepared_0", kind = "prepared", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{@copy writes 'prepared_0', which kernels of the stage 'prepare' write; write another, or mark it 'prepare'}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"prepared_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["prepared_0"]} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"prepared_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["prepared_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// Runs begin in a generation behind.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "prepared_0", kind = "prepared", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{@copy is of the stage 'prepare' in generation 0, and runs begin in 0; prepare before all runs, in generations of their own}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"prepared_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["prepared_0"], prepare} : () -> ()
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()

// -----

// The stage is a word without a value.
func.func private @copy(memref<4xf32>, memref<4xf32>, index, index)
"exec.function"() ({
  "exec.buffer"() {buffer = "weight_0", kind = "weight", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @below {{'exec.kernel' 'prepare' is true; write it without a value, or leave it out [TC111 InvalidAttribute]}}
  "exec.kernel"() {symbol = @copy, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"weight_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["weight_0"], writes = ["output_0"], prepare = true} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = ["y"], arena_bytes = 0, weights = ["w"], pool_bytes = 512} : () -> ()
