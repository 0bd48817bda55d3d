"""The part of a CUDA file that checks its kernels against the CPU.

Reading order:

    reference    each kernel as one sequential function of the host
    sizes        extents as text; sizes to try the program at; what kernels say of sizes
    knowledge    which inputs are indices, and how far each output may be off
    host         `main`: inputs, launches, the same on the CPU, the comparison
"""
