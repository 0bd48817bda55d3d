"""The command line of `ptxsim time`, read by argparse.

In: the arguments. Out: an `argparse.Namespace`; what two kernels may have each of its own is a list, in their order.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from ptxsim.clock.devices import DEVICES
from ptxsim.clock.grid import RECORDED_CLUSTERS
from ptxsim.command.option_values import bytes_option, count_option, extents_option, seed_option, set_option

_DEVICE = "h100"
_MOST_KERNELS = 2
#: What each kernel may have of its own.
_OF_A_KERNEL = ("entry", "grid", "block", "cluster", "dynamic_shared", "triton")


def read_time_line(argv: Sequence[str], prog: str = "ptxsim time") -> argparse.Namespace:
    """Read `argv`; `prog` is what the usage calls the command."""
    parser = argparse.ArgumentParser(
        prog=prog,
        allow_abbrev=False,
        description="How long a launch would take on a GPU, and why; with two kernels, where they differ.",
        epilog="What is for each kernel may be given twice, first for the first one.",
    )
    _add_kernels(parser)
    _add_launches(parser)
    _add_results(parser)
    arguments = parser.parse_args(argv)
    kernels = len(arguments.ptx)
    if kernels > _MOST_KERNELS:
        parser.error(f"argument ptx: {kernels} files are given; give one, or two to be compared")
    if not kernels and not arguments.device_table:
        parser.error("the following arguments are required: ptx")
    if kernels and not arguments.grid:
        parser.error("the following arguments are required: --grid")
    if arguments.second_arg and kernels < _MOST_KERNELS:
        parser.error("argument --second-arg: it is for a second kernel; give its file, too, or --arg")
    for name in _OF_A_KERNEL:
        if (given := len(getattr(arguments, name))) > kernels:
            option = f"--{name.replace('_', '-')}"
            parser.error(
                f"argument {option}: it is given {given} times, and files are {kernels}; give it once for each"
            )
    return arguments


def _add_kernels(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ptx", type=Path, nargs="*", help="a PTX file, of any compiler, or a .cu file; or two of them")
    parser.add_argument("--device", default=_DEVICE, help=f"{', '.join(DEVICES)} (default: {_DEVICE})")
    parser.add_argument("--entry", action="append", default=[], metavar="KERNEL", help="which kernel (each)")
    forms = "i32:8, f32[128,64]:random (or zeros, arange, a number, x.npy), x.npy, same:NAME, bytes:00ff, tma:{…}"
    parser.add_argument(
        "--arg", action="append", default=[], metavar="[NAME=]ARG", help=f"an argument, in order: {forms}"
    )
    shown = "an argument of the second kernel, if it does not take those of --arg; then all of them are given so"
    parser.add_argument("--second-arg", action="append", default=[], metavar="[NAME=]ARG", help=shown)
    shown = "write a variable of the module before the launch"
    parser.add_argument("--set", action="append", default=[], type=set_option, metavar="VAR=ARG", help=shown)
    parser.add_argument("--seed", type=seed_option, default=0, help="for random arguments (default: 0)")
    shown = "what nvcc compiles a .cu file for (default: what the device is)"
    parser.add_argument("--arch", help=shown)
    shown = "what Triton writes beside the PTX (each)"
    parser.add_argument("--triton", action="append", default=[], type=Path, metavar="KERNEL.json", help=shown)


def _add_launches(parser: argparse.ArgumentParser) -> None:
    extents = {"action": "append", "default": [], "type": extents_option, "metavar": "X[,Y[,Z]]"}
    parser.add_argument("--grid", help="CTAs (with --triton: programs) (each)", **extents)
    parser.add_argument("--block", help="threads (default: what the kernel requires) (each)", **extents)
    parser.add_argument("--cluster", help="CTAs of a cluster (each)", **extents)
    shown = "dynamic shared memory (default: 0) (each)"
    parser.add_argument("--dynamic-shared", action="append", default=[], type=bytes_option, metavar="BYTES", help=shown)
    shown = f"how many clusters of the grid are run and recorded, spread over it (default: {RECORDED_CLUSTERS})"
    parser.add_argument("--clusters", type=count_option, default=RECORDED_CLUSTERS, metavar="N", help=shown)
    shown = "no array is in L2 at the beginning (default: what the same launch has left there, as benchmarks repeat it)"
    parser.add_argument("--cold", action="store_true", help=shown)


def _add_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there (-: to stdout, nothing else)")
    shown = "write a timeline there, for ui.perfetto.dev: a row for each warp, tensor pipe, copies, CTAs"
    parser.add_argument("--trace", type=Path, metavar="FILE.json", help=shown)
    parser.add_argument("--roofline", type=Path, metavar="FILE.svg", help="write a roofline chart there")
    parser.add_argument("--stalls", type=Path, metavar="FILE.svg", help="write what warps wait for there, as bars")
    shown = "print the numbers of the device: unit, whether measured, specified, derived, fitted or assumed, source"
    parser.add_argument("--device-table", action="store_true", help=shown)
