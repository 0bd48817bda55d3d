"""Kernels of scheme `mma` as PTX that tests look into: what each is compiled from, mutants of it, and its SASS.

In reading order:

    kernels     GEMM + bias + ReLU by some plans, and a run on the simulator of any text of it
    launches    the kernels of a model as the simulator and its clock launch them
    run_ahead   how far the loads of a kernel are ahead of its products
    mutants     a text with a wait, a fence, a barrier, a commit, an arrival less, or a phase or a stage off by one
"""
