"""The walk: one folder per layer, in the order in which a program goes down.

`README.md` has an op of each layer, its grammar, and the glossary. In reading order:

    frontend          the graph as the user means it: layers of networks
    tiny              a graph of movements, element-wise ops and reductions
    index_book, poly  beside it: what each element reads, and the polyhedral statements
    region            kernels with buffers at their boundary, and the host function that launches them
    gpu               kernels as statements over tiles, then as one thread's code
    cuda              these kernels as one file of CUDA C++
    nvvm              these kernels in the LLVM dialect
    launch            how the host learns from a kernel's layer what its launch is
    exec              the host program
    registry          the table of the layers
"""
