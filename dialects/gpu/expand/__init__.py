"""Statements over tiles → code for one thread: the level that `to_nvvm` and `to_cuda` start from.

In: a kernel of statements. Out: the same kernel as loops, loads and stores of one thread. Reading order:

    lowering                 the pass `gpu-expand`: a kernel, its loops, and each statement by its class
    expansion                what is known on the way: what each value of the old kernel has become
    threads                  the thread: its place in the CTA and in the grid, and how threads share work
    workers                  the threads that run a statement: a CTA's or a warpgroup's, by warps
    flat_elements            elements of values where a buffer is one row of elements
    thread_elements          the same for one thread of many
    circular_buffer, place   a tile in shared memory, and where a tile stands in a tensor
    swizzled_buffer, chunks  tiles and mbarriers in dynamic shared memory, and how threads share what accesses take
    stage_offsets            where stages begin in shared memory, as loops carry it
    packing                  elements as they are stored beside each other
    in_turn                  two words that lanes load from shared memory, some the second one first
    fragment_tile            tiles that threads store and load as they have accumulators
    accumulator              the part of an accumulator tile that a thread owns
    planes                   where elements stand in shared memory without bank conflicts
    vector_elements          elements of which a thread takes several neighbours in one access
    loop_steps               the fused loops of a body: which elements a step computes
    stripes                  steps that lie beside each other, as a CTA takes them
    step_threads             which steps the threads of a CTA compute, and which part of one each
    warp, cta_total, cta_prefix
                             what the threads of a step exchange
    partial, online          what a thread has of a reduction, and of a maximum and what is summed up below it
    square                   elements in shared memory that are written along one side and read along the other
    alloc_smem, zero, load_tile, fma, warpgroups, cp_async, tma, groups, mbarrier, mma_sync, wgmma
    wgmma_fragment, partial_sums, semaphore, epilogue, epilogue_slab, st_global_vec
    share, map, map_runs, transpose, reduce_rows, scan_rows, topk, scatter_add
                             each statement, `expand(expansion, op)`; what they mean stands in `statements/`
"""
