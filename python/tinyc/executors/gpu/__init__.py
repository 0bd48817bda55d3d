"""Kernels at the scalar level, run in numpy: the threads of a CTA in step, one array element for each thread.

What a kernel computes can be known without a GPU, and so can what it must not do: accesses out of bounds, memory read
before it is written, races between the threads of a CTA, barriers that not all of them reach. Reading order:

    program       a host program whose kernels run thread by thread
    cta           `run_gpu_kernel`: a grid CTA by CTA, an op at a time in all threads that are active
    memory        a row of elements that knows who has accessed what since the last barrier
    arithmetic    what the ops of arith and math compute
"""
