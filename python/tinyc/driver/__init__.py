"""From a program to its results: `tinyc.compile`, and the command `tinyc`.

In reading order:

    program_text      a program as it is written, read once
    request           what is asked of a compilation, checked and in one form
    sources           whatever `tinyc.compile` takes as a program, as a module
    binding           values for the symbols of a module
    weights           which inputs are given once
    code_text         programs whose kernels are PTX or LLVM IR, in one file with what launches them
    listings          which texts a program has on its way to each target, by name: plain data
    layer             which layer a module is at, and whether it is a program
    assembly          assembly to read, beside the loops
    lowering          one program at every layer, by slices of the pipelines in `tinyc.pipeline`
    clock_table       how long the kernels of a run would take on a GPU
    profile           what the kernels of a run took, beside what was predicted
    roofline          the share of the machine's peak that a region has reached
    peak_loops        loops that reach what a machine can, as LLVM IR
    machine_peak      what this machine reaches at most, measured
    run_keys          which random numbers a run of it has
    model             what is ready to run
    load              `tinyc.load`: from what a compilation makes, or a file that has it, to a model
    predictions       what was predicted of the regions of a program
    compiled_model    what `tinyc.compile` gives: a model with the texts of its layers
    compilation       a program through all layers to what runs it
    kept_programs     compiled programs in the cache
    compile           `tinyc.compile`: a program, a target and options to a model, from the cache where it is there
    onnx_runtime      ONNX Runtime as another executor of the same model
    verification      the layers of a program, compared on the same inputs
    array_files       inputs and outputs in `.npz` files
    arguments         the command line of `tinyc`
    running           what `tinyc run` does with a model, and with one from a file
    commands          what `tinyc run` and `compile` do
    verifying         what `tinyc verify` does
    caching           what `tinyc cache` does
    benching          what `tinyc bench` does
    progress          what a command is doing, on a terminal, while it takes long
    exit_status       how a command ends, whatever happens
    cli               the entry point of `tinyc`
"""
