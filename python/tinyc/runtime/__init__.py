"""Running programs: the frozen `Program`, its memory, and the devices. Imports no dialect: it runs without MLIR.

In reading order:

    program                       the host program as frozen data
    boundary                      what it says of its inputs and outputs
    arena, sizes                  the memory of a run, and what its symbols are
    arrays, outputs               inputs as a program takes them, and where its outputs go
    index_error, status           an index that is out of range, noted by a kernel and reported
    executable                    what a run is on every device
    device_memory                 the memory of a GPU that is not there
    cpu_features, jit             the CPU: what it has, and LLVM IR to an object for it
    object_code, cpu              an object to code in memory, and a run of it
    sim                           the simulated GPU
    assembler, cuda_driver, cuda  the GPU: PTX to machine code, the driver, and a run on it
    container, frozen_json        a file of named sections that tells damage, and frozen data as JSON
    artifact                      what a compilation makes, and the file that has it
"""
