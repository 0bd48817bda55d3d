"""`ptxsim`: a kernel of any compiler, run on the simulator or timed by its clock from the command line.

In: a PTX file, the launch's shape, and arguments as text. Out: findings and counters on stdout or as JSON, and arrays
as `.npy` files; of `ptxsim time` estimates, timelines and charts. Built on the simulator's public interface, of which
nothing here is a part. In reading order:

    arguments, option_values   the command line, read by argparse
    kernel_launch    the kernel of a file, and its launch, completed
    simulate         what the command does: runs the launch, tells the result
    time_arguments, time_kernels   the same of `ptxsim time`
    argument_text, elements, tensor_map_text   the kernel's arguments as `--arg` writes them
    triton_metadata  what Triton's runtime knows beside the PTX
    kernel_text, report_text   what `--list` says of a kernel; findings and counters as text and JSON
    files            reading and writing, with errors that name the file
"""
