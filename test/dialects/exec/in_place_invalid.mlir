// RUN: tinyc-opt --verify-diagnostics --split-input-file %s -o %t

// A kernel that offers it may write a result over an operand that nothing reads later.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()

// -----

// One that reads elements where others are written offers nothing.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  // expected-error @+1 {{@flip has in_place of 'temp_0' and 'temp_1', but the contract of @flip offers none by the positions of its buffers; leave the pair out, and give 'temp_1' a place of its own}}
  "exec.kernel"() {symbol = @flip, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()

// -----

// Every alternative of a kernel offers what the launch does in place: @flip would take the place of @relu.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  // expected-error @+1 {{@relu has in_place of 'temp_0' and 'temp_1', but the contract of @flip offers none by the positions of its buffers; leave the pair out, and give 'temp_1' a place of its own}}
  "exec.kernel"() {symbol = @relu, generation = 1, exec.alternatives = [{symbol = @flip, guards = [["n", "eq", 4]], grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>]}], grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = ["n"], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()

// -----

// Without the pair the two overlap.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{buffers 'temp_0' and 'temp_1' overlap in the arena, and both are alive in generation 1; move 'temp_1' to offset >= 256}}
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()

// -----

// The two lie in one place.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 256, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  // expected-error @+1 {{@relu has in_place of 'temp_0' and 'temp_1', but they are at 0 and 256; leave the pair out, and give 'temp_1' a place of its own}}
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()

// -----

// What a kernel of the same generation or of a later one reads stays.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_1", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  // expected-error @+1 {{@relu has in_place of 'temp_0' and 'temp_1', but @flip uses 'temp_0' in generation 1; leave the pair out, and give 'temp_1' a place of its own}}
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @flip, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"output_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["output_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0", "y1"], arena_bytes = 1024} : () -> ()

// -----

// Both are buffers of the arena, one read and the other written.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{@relu has in_place of 'input_0' and 'temp_0', but 'input_0' is no buffer of the arena; leave the pair out, and give 'temp_0' a place of its own}}
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["input_0", "temp_0"]], parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  // expected-error @+1 {{@relu has in_place of 'temp_1' and 'temp_0', but it does not only read 'temp_1'; leave the pair out, and give 'temp_0' a place of its own}}
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_1", "temp_0"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_1"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()

// -----

// What lies there is written before it is read again: the result is no other kernel's before.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()

// -----

// A buffer that overwrites another one lives at its place until it is read for the last time.
!buffer = !region.memref<tensor<4xf32>, [1], 128 : i64, true>
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.relu"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "relu"} : () -> ()
"region.kernel"() ({
^bb0(%x: !buffer, %y: !buffer):
  %0 = "region.read"(%x) : (!buffer) -> tensor<4xf32>
  %1 = "tiny.flip"(%0) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  "region.yield"(%1, %y) {materialize = "gmem"} : (tensor<4xf32>, !buffer) -> ()
  omp.terminator
}) {sym_name = "flip"} : () -> ()
"exec.function"() ({
  "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_0", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.buffer"() {buffer = "temp_1", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  // expected-error @+1 {{buffers 'temp_1' and 'temp_2' overlap in the arena, and both are alive in generation 2; move 'temp_2' to offset >= 256}}
  "exec.buffer"() {buffer = "temp_2", kind = "arena", memory_space = "host", offset = 0, size = 16, tensor = tensor<4xf32>} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"temp_0", tensor<4xf32>>], reads = ["input_0"], writes = ["temp_0"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 1, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, in_place = [["temp_0", "temp_1"]], parameters = [#exec.ptr<"temp_0", tensor<4xf32>>, #exec.ptr<"temp_1", tensor<4xf32>>], reads = ["temp_0"], writes = ["temp_1"]} : () -> ()
  "exec.kernel"() {symbol = @flip, generation = 2, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_1", tensor<4xf32>>, #exec.ptr<"temp_2", tensor<4xf32>>], reads = ["temp_1"], writes = ["temp_2"]} : () -> ()
  "exec.kernel"() {symbol = @relu, generation = 3, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1], dynamic_shared_bytes = 0, parameters = [#exec.ptr<"temp_2", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>], reads = ["temp_2"], writes = ["output_0"]} : () -> ()
  omp.terminator
}) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y0"], arena_bytes = 1024} : () -> ()
