"""Statements over tiles → code for one thread: the level that `to_nvvm` and `to_cuda` start from.

In: a kernel of statements. Out: the same kernel as loops, loads and stores of one thread. Reading order:

    lowering                 the pass `gpu-expand`: a kernel, its loops, and each statement by its class
    expansion                what is known on the way: what each value of the old kernel has become
    threads                  the thread: its place in the CTA and in the grid, and how threads share work
    flat_elements            elements of values where a buffer is one row of elements
    thread_elements          the same for one thread of many
    circular_buffer, place   a tile in shared memory, and where a tile stands in a tensor
    accumulator              the part of an accumulator tile that a thread owns
    alloc_smem, zero, load_tile, fma, epilogue, map, topk, scatter_add
                             each statement, `expand(expansion, op)`; what they mean stands in `statements/`
"""
