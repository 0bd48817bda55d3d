"""Kernels at the scalar level → the LLVM dialect with NVVM's ops, which `nvvm` goes on from.

Reading order:

    lowering                 the pass `gpu-to-nvvm`: functions, their arguments, arrays in shared memory
    memory                   what touches memory or asks which thread it is, op by op
    shuffle                  what lanes of a warp exchange
    atomic_add, report_index, load_vector, store_vector, address, map_address, instruction
                             the scalar level's own ops, `lower(rewriter, op)`
"""
