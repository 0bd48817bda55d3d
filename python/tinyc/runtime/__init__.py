"""Running programs: the frozen `Program`, its memory, and the devices. Imports no dialect: it runs without MLIR.

In reading order:

    tensor_map, program           tensor maps, and the host program as frozen data
    boundary                      what it says of its inputs and outputs
    arena, sizes                  the memory of runs, and what the symbols of one are
    dlpack, device_array          arrays in the memory of a GPU
    arrays, outputs               inputs as a program takes them, and where its outputs go
    bound                         a program at the sizes of a run, all in numbers
    index_error, status           an index that is out of range, noted by a kernel and reported
    const_pool                    what is kept from run to run: weights, constants
    executable                    what a run is on every device
    device_memory                 the memory of a GPU that is not there
    cpu_features                  what a CPU has
    function_names, jit           the functions of a program's machine code, and LLVM IR to an object of it
    threads                       how many CPUs are used, and teams of threads that run kernels
    compile_processes             several modules of LLVM IR to objects, by several processes
    perf_map, gdb_symbols         the names of kernels for `perf` and for gdb
    object_archive, elf_object    several objects as one image, and one of them as data
    object_code                   objects as code in memory
    cpu_calls                     calls of kernels, by threads that share the turns of one or of a generation
    cpu_frame, cpu                the arguments of a run, and a run
    sim                           the simulated GPU
    assembler, cuda_driver        the GPU: PTX to machine code, and the driver,
    cuda_tensor_map, cuda_graph   tensor maps in bytes, launches as one graph,
    cuda_memory                   memory that is kept,
    cuda_frame, cuda              what runs at some sizes have in common, and a run
    container, frozen_json        a file of named sections that tells damage, and frozen data as JSON
    stored_arrays, self_test      arrays in such a file, and those that a model is tested with
    artifact                      what a compilation makes, and the file that has it
"""
