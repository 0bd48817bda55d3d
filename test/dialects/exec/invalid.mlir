// RUN: tinyc-opt --split-input-file --verify-diagnostics %s

// What each op says of itself, wrongly.

// expected-error @+1 {{'exec.function' may hold exec.assume, exec.buffer, exec.kernel, not 'arith.constant'}}
"exec.function"() ({
  %c = arith.constant 1 : index
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = 0} : () -> ()

// -----

// expected-error @+1 {{'exec.function' 'inputs' is ["x", "x"]; name each once [TC111 InvalidAttribute]}}
"exec.function"() ({
^bb0:
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x", "x"], outputs = [], arena_bytes = 0} : () -> ()

// -----

// expected-error @+1 {{'exec.function' 'arena_bytes' is "M*4", which is not canonical; write "4*M" [TC114 InvalidExtent]}}
"exec.function"() ({
^bb0:
  omp.terminator
}) {sym_name = "main", symbols = ["M"], inputs = [], outputs = [], arena_bytes = "M*4"} : () -> ()

// -----

// expected-error @+1 {{'exec.function' 'arena_bytes' is [512]; an array has two extents or more [TC111 InvalidAttribute]}}
"exec.function"() ({
^bb0:
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = [512]} : () -> ()

// -----

// expected-error @+1 {{'exec.assume' 'predicate' is 'lt'; it must be 'eq' or 'le'}}
"exec.assume"() {lhs = "M", predicate = "lt", rhs = 3} : () -> ()

// -----

// expected-error @+1 {{'exec.assume' 'lhs': cannot read the extent 'M +': unexpected the end}}
"exec.assume"() {lhs = "M +", predicate = "le", rhs = 3} : () -> ()

// -----

// expected-error @+1 {{'exec.buffer' 'kind' is 'local'; it must be 'input' or 'output' or 'arena'}}
"exec.buffer"() {buffer = "b", kind = "local", memory_space = "host", offset = 0, size = 4, tensor = tensor<1xf32>} : () -> ()

// -----

// expected-error @+1 {{'exec.buffer' 'memory_space' is 'texture'; it must be 'host' or 'device'}}
"exec.buffer"() {buffer = "b", kind = "arena", memory_space = "texture", offset = 0, size = 4, tensor = tensor<1xf32>} : () -> ()

// -----

// expected-error @+1 {{'exec.buffer' 4 : i64 is not a tensor type; write tensor<…>}}
"exec.buffer"() {buffer = "b", kind = "arena", memory_space = "host", offset = 0, size = 4, tensor = 4} : () -> ()

// -----

// expected-error @+1 {{'exec.buffer' lacks the attribute 'offset'}}
"exec.buffer"() {buffer = "b", kind = "arena", memory_space = "host", size = 4, tensor = tensor<1xf32>} : () -> ()

// -----

// expected-error @+1 {{'exec.kernel' 'symbol' is "k"; it must name a kernel, @name}}
"exec.kernel"() {symbol = "k", generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [], reads = [], writes = []} : () -> ()

// -----

// expected-error @+1 {{'exec.kernel' 'generation' is -1; it must be 0, 1, …}}
"exec.kernel"() {symbol = @k, generation = -1, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [], reads = [], writes = []} : () -> ()

// -----

// expected-error @+1 {{'exec.kernel' 'grid' is [1, 1]; it must have three extents, x y z}}
"exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [], reads = [], writes = []} : () -> ()

// -----

// expected-error @+1 {{'exec.kernel' parameter "x" is not one of #exec.ptr<"buffer", tensor<…>>, #exec.status<slot>, #exec.extent<…>}}
"exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = ["x"], reads = [], writes = []} : () -> ()

// -----

// What is written in place is named in pairs, each buffer once.
"exec.function"() ({
  // expected-error @+1 {{'exec.kernel' 'in_place' is ["temp_0", "temp_1"]; it must be an array of pairs of strings, [["read", "written"]]}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = ["temp_0", "temp_1"], parameters = [], reads = [], writes = []} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = 0} : () -> ()

// -----

"exec.function"() ({
  // expected-error @+1 {{'exec.kernel' 'in_place' is [["a", "b"], ["a", "c"]]; name each buffer once}}
  "exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["a", "b"], ["a", "c"]], parameters = [], reads = [], writes = []} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = [], outputs = [], arena_bytes = 0} : () -> ()

// -----

// expected-error @+1 {{is of i4; it must be one of f16, bf16}}
"exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.tensor_map<"b", i4, [4], [], [4], 0>], reads = [], writes = []} : () -> ()

// -----

// expected-error @+1 {{has a box or a swizzle that depends on sizes; write numbers}}
"exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.tensor_map<"b", f32, ["M"], [], ["M"], 0>], reads = [], writes = []} : () -> ()

// -----

// expected-error @+1 {{has a stride of 20 bytes; it must be a multiple of 16 below 2^40}}
"exec.kernel"() {symbol = @k, generation = 0, grid = [1, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.tensor_map<"b", f32, ["M", 4], [20], [4, 4], 0>], reads = [], writes = []} : () -> ()
