"""The command line of `ptxsim`, read by argparse.

In: the arguments. Out: an `argparse.Namespace` with the options as plain values; argparse ends the process with status
2, and the usage, for what does not read.
"""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from ptxsim.command.cuda_source import DEFAULT_ARCH, is_cuda

_LAST = "last"


def read_command_line(argv: Sequence[str], prog: str = "ptxsim") -> argparse.Namespace:
    """Read `argv`; `prog` is what the usage calls the command."""
    parser = argparse.ArgumentParser(prog=prog, allow_abbrev=False)
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
        type=_set,
        metavar="VAR=ARG",
        help="what a __constant__ or __device__ variable starts with, written as --arg is",
    )
    parser.add_argument(
        "--save",
        action="append",
        default=[],
        type=_save,
        metavar="NAME=FILE.npy",
        help="write an array, or a variable of the module, there",
    )
    parser.add_argument(
        "--expect",
        action="append",
        default=[],
        type=_save,
        metavar="NAME=FILE.npy",
        help="compare an array, or a variable, with a file after the launch; status 1 if they differ",
    )
    parser.add_argument("--rtol", type=_tolerance, default=0.0, help="relative tolerance of --expect (default: 0)")
    parser.add_argument("--atol", type=_tolerance, default=0.0, help="absolute tolerance of --expect (default: 0)")
    parser.add_argument("--triton", type=Path, metavar="KERNEL.json", help="what Triton writes beside the PTX")
    parser.add_argument("--checks", type=_checks, metavar="CHECK,…", help="instead of all: bounds, …; or none")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="KIND[:LINE]",
        help="findings not to report, as in proxy-fence-missing or race:123",
    )
    parser.add_argument("--seed", type=_seed, default=0, help="for random arguments (default: 0)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there (-: to stdout, nothing else)")


def _add_launch(parser: argparse.ArgumentParser) -> None:
    extents = "X[,Y[,Z]]"
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("--list", action="store_true", help="say what the kernels of the file take, and run nothing")
    wanted.add_argument("--grid", type=_extents, metavar=extents, help="CTAs (with --triton: programs)")
    parser.add_argument("--block", type=_extents, metavar=extents, help="threads (default: what the kernel requires)")
    parser.add_argument("--cluster", type=_extents, metavar=extents, help="CTAs of a cluster")
    parser.add_argument(
        "--clusters",
        type=_clusters,
        metavar="N[,N…]",
        help="run only these clusters of the grid, 0 to last, x fastest, as in 0,5,last (without clusters: CTAs)",
    )
    parser.add_argument("--dynamic-shared", type=_bytes, metavar="BYTES", help="dynamic shared memory (default: 0)")


def _seed(text: str) -> int:
    if not _is_number(text, 18):
        raise argparse.ArgumentTypeError(f"{text!r} is no seed: a non-negative integer")
    return int(text)


def _extents(text: str) -> tuple[int, int, int]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > 3 or not all(_is_number(part, 10) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as X, X,Y or X,Y,Z")
    x, y, z = (*map(int, parts), 1, 1)[:3]
    return x, y, z


def _clusters(text: str) -> tuple[int | None, ...]:
    """Numbers of clusters, None for the last."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part == _LAST or _is_number(part, 20) for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as numbers of clusters, as in 0,5,{_LAST}")
    return tuple(None if part == _LAST else int(part) for part in parts)


def _bytes(text: str) -> int:
    if not _is_number(text, 10):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes")
    return int(text)


def _checks(text: str) -> tuple[str, ...]:
    return () if text == "none" else tuple(check.strip() for check in text.split(","))


def _save(text: str) -> tuple[str, Path]:
    name, equals, path = text.partition("=")
    if not name or not equals or not path.endswith(".npy"):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as NAME=FILE.npy")
    return name, Path(path)


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no tolerance: a number from 0 on")
    return value


def _set(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals or not value:
        raise argparse.ArgumentTypeError(f"{text!r} does not read as VAR=ARG, as in scale=f32:0.5")
    return name, value


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits
