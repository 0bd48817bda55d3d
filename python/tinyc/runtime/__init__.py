"""Running programs: the frozen `Program`, its memory, and the devices. Imports no dialect: it runs without MLIR.

In reading order:

    program                       the host program as frozen data
    arena, sizes                  the memory of runs, and what the symbols of one are
    dlpack, device_array          arrays in the memory of a GPU
    arrays, outputs               inputs as a program takes them, and where its outputs go
    bound                         a program at the sizes of a run, all in numbers
    index_error, status           an index that is out of range, noted by a kernel and reported
    executable                    what a run is on every device
    device_memory                 the memory of a GPU that is not there
    jit, cpu_frame, cpu           the CPU: LLVM IR to machine code, the arguments of a run, and a run
    sim                           the simulated GPU
    assembler, cuda_driver        the GPU: PTX to machine code, and the driver,
    cuda_graph, cuda_memory       launches as one graph, memory that is kept,
    cuda_frame, cuda              what runs at some sizes have in common, and a run
"""
