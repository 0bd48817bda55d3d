"""The command line of `ptxsim`, read by argparse.

In: the arguments. Out: an `argparse.Namespace` with the options as plain values; argparse ends the process with status
2, and the usage, for what does not read.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ptxsim.command.cuda_source import DEFAULT_ARCH, is_cuda
from ptxsim.command.option_values import (
    bytes_option,
    checks_option,
    clusters_option,
    extents_option,
    save_option,
    seed_option,
    set_option,
    tolerance_option,
)


def read_command_line(argv: Sequence[str], prog: str = "ptxsim") -> argparse.Namespace:
    """Read `argv`; `prog` is what the usage calls the command."""
    times = f"{prog.split()[0]} time"
    shown = f"{times} says how long a launch would take on a GPU; {times} --help has its options."
    parser = argparse.ArgumentParser(prog=prog, allow_abbrev=False, epilog=shown)
    _add_kernel(parser)
    _add_launch(parser)
    arguments = parser.parse_args(argv)
    if arguments.arch is not None and not is_cuda(arguments.ptx):
        given = f"'{arguments.arch}' is for nvcc, which compiles .cu files; {arguments.ptx} is run as it is"
        parser.error(f"argument --arch: {given}, leave --arch out")
    arguments.arch = arguments.arch or DEFAULT_ARCH
    return arguments


def _add_kernel(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ptx", type=Path, help="the PTX file, of any compiler; or a .cu file, for nvcc")
    parser.add_argument("--arch", help=f"what nvcc compiles a .cu file for (default: {DEFAULT_ARCH})")
    parser.add_argument("--entry", metavar="KERNEL", help="which kernel, where the file has several")
    arguments = "i32:8, f32[128,64]:random (or zeros, arange, a number, x.npy), x.npy, same:NAME, bytes:00ff, tma:{…}"
    parser.add_argument(
        "--arg", action="append", default=[], metavar="[NAME=]ARG", help=f"an argument, in order: {arguments}"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        type=set_option,
        metavar="VAR=ARG",
        help="what a __constant__ or __device__ variable starts with, written as --arg is",
    )
    parser.add_argument(
        "--save",
        action="append",
        default=[],
        type=save_option,
        metavar="NAME=FILE.npy",
        help="write an array, or a variable of the module, there",
    )
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        type=save_option,
        metavar="NAME=FILE.npy",
        help="compare an array, or a variable, with a file after the launch; status 1 if they differ",
    )
    parser.add_argument(
        "--rtol", type=tolerance_option, default=0.0, help="relative tolerance of --expect (default: 0)"
    )
    parser.add_argument(
        "--atol", type=tolerance_option, default=0.0, help="absolute tolerance of --expect (default: 0)"
    )
    parser.add_argument("--triton", type=Path, metavar="KERNEL.json", help="what Triton writes beside the PTX")
    parser.add_argument("--checks", type=checks_option, metavar="CHECK,…", help="instead of all: bounds, …; or none")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="KIND[:LINE]",
        help="findings not to report, as in proxy-fence-missing or race:123",
    )
    parser.add_argument("--seed", type=seed_option, default=0, help="for random arguments (default: 0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there (-: to stdout, nothing else)")


def _add_launch(parser: argparse.ArgumentParser) -> None:
    extents = "X[,Y[,Z]]"
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--list", action="store_true", help="say what the kernels of the file take, and run nothing")
    wanted.add_argument("--grid", type=extents_option, metavar=extents, help="CTAs (with --triton: programs)")
    parser.add_argument(
        "--block", type=extents_option, metavar=extents, help="threads (default: what the kernel requires)"
    )
    parser.add_argument("--cluster", type=extents_option, metavar=extents, help="CTAs of a cluster")
    parser.add_argument(
        "--clusters",
        type=clusters_option,
        metavar="N[,N…]",
        help="run only these clusters of the grid, 0 to last, x fastest, as in 0,5,last (without clusters: CTAs)",
    )
    parser.add_argument(
        "--dynamic-shared", type=bytes_option, metavar="BYTES", help="dynamic shared memory (default: 0)"
    )
