"""The GPU layer's kernels, run in numpy: tile by tile, or the threads of a CTA in step, an element for each thread.

What a kernel computes can be known without a GPU, and so can what it must not do: accesses out of bounds, memory read
before it is written, races between the threads of a CTA, barriers that not all of them reach. Reading order:

    program       a host program whose kernels run in one way or the other
    tiles         `run_tile_kernel`: the statements of kernels of tensor cores, a grid cluster by cluster
    cta           `run_gpu_kernel`: the scalar level, a grid CTA by CTA, an op at a time in all threads that are active
    memory        a row of elements that knows who has accessed what since the last barrier
    arithmetic    what the ops of arith and math compute
"""
