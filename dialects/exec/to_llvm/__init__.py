"""Exec → LLVM: the CPU ABI around the kernels' loops, and the way from there to LLVM IR.

Every symbol of the result that is visible from outside:

* `kernel.<name>(void** bufs, size_t* extents, size_t lo, size_t hi)`: one kernel over part of its parallel outer loop.
  `bufs` are the launch's pointers in the order of its parameters, then its status slot if it has one; `extents` are its
  extents.
* `generation_team(void* job)`: what each thread of a team runs, which shares the turns of one kernel, or of several of
  a generation (`runtime.cpu_calls`).
* `kernel_impl(input_0, …, output_0, …, arena, status, [pool,] symbols…)`: the kernels of a run, one generation after
  the other.
* `kernel_main(void** bufs, size_t* shape_vars)`: the entry. `bufs` are the inputs, the outputs, the arena (64-byte
  aligned, `arena_bytes` long) and the status buffer (`STATUS_WORDS` i64 for each slot, zeroed by the caller);
  `shape_vars` are the symbols, in the order in which the `exec.function` lists them. Where the program has a ConstPool,
  its address is the last of `bufs`: `pool_bytes` long, with the weights and the constants at their offsets.
* `prepare_impl` and `prepare_main`, which take the same: the kernels that fill the rest of the pool, if there are some.

In reading order:

    lowering         the pass
    bare_pointers    the loops of a kernel take addresses in place of memrefs
    cpu_abi          the code of the functions above
    llvm_ir          the text of a module that MLIR's own passes have taken to the LLVM dialect
    units            that text taken apart: what is compiled for each kernel, and for what calls them
"""
