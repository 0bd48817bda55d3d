"""Exec: the host program; buffers with offsets, and kernels in generations, each with its launch contract.

Here: `exec.function` lists the symbols, the inputs and outputs by name, the size of the one arena, and in its body what
has to hold at run time (`exec.assume`), every buffer (`exec.buffer`), and every launch (`exec.kernel`). Inputs and
outputs are the caller's memory, or a GPU's copy of it; what lives between kernels is an offset into the arena, an
extent in bytes; where a kernel offers it, its result may lie where an operand does that nothing reads later
(`in_place`). What is kept from run to run is an offset into the ConstPool: weights, constants with their elements, and
what kernels marked `prepare` make of these once, before all runs. Kernels of one generation are independent of each
other; a second one may update what an earlier generation has written. Gone: tensors as values. Not yet: how a device
calls a kernel.

    "exec.function"() ({
      "exec.buffer"() {buffer = "input_0", kind = "input", memory_space = "host", offset = 0, size = 16,
        tensor = tensor<4xf32>} : () -> ()
      "exec.buffer"() {buffer = "output_0", kind = "output", memory_space = "host", offset = 0, size = 16,
        tensor = tensor<4xf32>} : () -> ()
      "exec.kernel"() {symbol = @relu, generation = 0, grid = [4, 1, 1], block = [1, 1, 1], cluster = [1, 1, 1],
        dynamic_shared_bytes = 0,
        parameters = [#exec.ptr<"input_0", tensor<4xf32>>, #exec.ptr<"output_0", tensor<4xf32>>],
        reads = ["input_0"], writes = ["output_0"]} : () -> ()
      omp.terminator
    }) {sym_name = "main", symbols = [], inputs = ["x"], outputs = ["y"], arena_bytes = 0} : () -> ()

The buffers are named as in specification 003: `input_N`, `output_N`, `temp_N`; and those of the pool `weight_N`,
`constant_N`, `prepared_N`.

In reading order:

    attributes         the dialect, and what attributes mean as plain data
    ops                the ops, each with what it means; `exec.kernel` is the launch contract
    verify             what holds of a host function as a whole
    verify_launches, verify_in_place, verify_arena, verify_pool
                       its parts: launches and generations, buffers that overwrite others, buffers in the arena and in
                       the ConstPool
    to_program         out: the `runtime.Program` that every device runs, and the elements of its constants
    expand_f16         conversions of f16 as integer arithmetic, for a CPU without instructions for them
    expand_math        mathematical functions as arithmetic, for the vectors of a CPU
    expand_divisions   divisions of indices that LLVM may compute early
    to_llvm            out: the CPU ABI around the kernels' loops
"""
