"""What has been compiled once, kept on disk: a second start needs neither MLIR nor LLVM.

In: all that a result depends on, as a key. Out: the result that was kept for it, in this process or in another one, or
nothing, and then it is made anew. There are two kinds of entries: compiled programs, by their source, options and
versions, and object code of kernels, by their LLVM IR, the CPU and LLVM's version. Nothing here imports MLIR.

In reading order:

    folder      the folder, and its entries: who may write there, what a damaged one is, which are dropped
    keys        what results depend on beside what they are made of: versions, sources, the machine
    objects     the LLVM IR of kernels to object code, by the cache

Compiled programs are kept by `driver.kept_programs`.
"""
