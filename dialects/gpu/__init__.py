"""GPU: kernels as statements over tiles, and the loops that those become.

Here: each kernel is a `gpu.func` of a `gpu.module`, which names the architecture; threads and blocks exist, and shared
memory, and tiles of sums in registers. Gone: kernels without threads, the plan (it is realised, and kept to be read).
Not yet: addresses, instructions.
"""
