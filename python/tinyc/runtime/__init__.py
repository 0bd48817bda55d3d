"""Running programs: the frozen `Program`, its memory, and the devices. Imports no dialect: it runs without MLIR.

In reading order:

    program                       the host program as frozen data
    arena, sizes                  the memory of a run, and what its symbols are
    arrays, outputs               inputs as a program takes them, and where its outputs go
    index_error, status           an index that is out of range, noted by a kernel and reported
    const_pool                    what is kept from run to run: weights, constants
    executable                    what a run is on every device
    device_memory                 the memory of a GPU that is not there
    jit, cpu                      the CPU: LLVM IR to machine code, and a run of it
    sim                           the simulated GPU
    assembler, cuda_driver, cuda  the GPU: PTX to machine code, the driver, and a run on it
"""
