"""A program for the CPU as a C library: a shared library without Python, and the header to call it by.

In: a `runtime.Artifact`, program and object code. Out: `lib.so` and `lib.h`, with `<prefix>_init`, `<prefix>_run`
and `<prefix>_free`; a run takes the Param-Block, a struct of the addresses of inputs and outputs, and of the symbols.

In reading order:

    interface    what the library's functions, types and the fields of the Param-Block are called
    header       the header
    source       what stands between the caller and `kernel_main`: checks, memory, errors
    build        both, and the kernels' machine code, linked by the system's C compiler
"""
