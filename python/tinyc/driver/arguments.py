"""The command line of `tinyc`, read by argparse.

In: the arguments. Out: an `argparse.Namespace` with `command` and the options as plain values; argparse ends the
process with status 2, and the usage, for what does not read.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError
from tinyc.dialects.region.size_sets import read_set
from tinyc.driver.listings import LAST_LISTING, LISTINGS
from tinyc.runtime.threads import MAX_THREADS
from tinyc.target import DEFAULT_ARCH
from tinyc.target import TARGETS as ARCHITECTURES

_DESCRIPTION = (
    "Compile and run programs: ONNX models (.onnx), Tiny JSON (.json), or the dump of any layer (.mlir, .ll, .ptx). "
    "Run models that were compiled before (.tinyc). Simulate and time kernels of any compiler: PTX (.ptx)."
)
_COMMANDS = ("run", "compile", "verify", "explain", "bench", "cache", "simulate", "time")
#: What names of programs and of models end in.
_PROGRAMS = (".onnx", ".json", ".mlir", ".ll", ".ptx", ".tinyc")
#: Every layer of every target.
_LAYERS = tuple(dict.fromkeys(name for names in LISTINGS.values() for name in names))
#: What programs are compiled for where the command line does not say it; `None` there, since a model says it itself.
DEFAULT_TARGET = "cpu"
#: The value of `--fusion` that fuses nothing.
_NONE = "none"
#: What `--against` of `verify` and `bench` calls ONNX Runtime.
_ONNXRUNTIME = "onnxruntime"


def read_command_line(argv: Sequence[str]) -> argparse.Namespace:
    """The command that `argv` asks for, with its options."""
    parser = _parser()
    _check_command(parser, "".join(argv[:1]))
    arguments = parser.parse_args(_with_plain_options(argv))
    if arguments.command == "explain":
        _check_explained(parser, arguments)
    if arguments.command == "compile" and arguments.self_test is None:
        given = next((name for name in ("inputs", "random") if getattr(arguments, name) is not None), None)
        if given is not None:
            parser.error(f"argument --{given}: it is what a model is tested with; give --self-test, too")
    if arguments.command == "verify" and arguments.against == _ONNXRUNTIME:  # a file of that name is ./onnxruntime
        arguments.against, arguments.runtime = None, _ONNXRUNTIME
    if "prefix" in arguments and arguments.prefix and arguments.emit_lib is None:
        parser.error("argument --prefix: it is about a C library; give --emit-lib, too")
    if arguments.command == "run" and arguments.device is not None and not arguments.time:
        parser.error("argument --device: it is what --time is told for; give --time, too")
    if "line_info" in arguments and arguments.line_info and arguments.stock_printing:
        parser.error("argument --line-info: .loc points into the text with names; leave --stock-printing out")
    return arguments


def _check_command(parser: argparse.ArgumentParser, word: str) -> None:
    """End the process where a program stands in the place of a command."""
    if word not in _COMMANDS and not word.startswith("-") and (Path(word).suffix in _PROGRAMS or os.path.isfile(word)):
        parser.error(f"{word!r} is a program, and in front of it stands a command; tinyc run {word}")


def _with_plain_options(argv: Sequence[str]) -> list[str]:
    """The command line in which an option that may have a value takes the word behind it only where that is one."""
    takes = {"explain": ("--fusion", lambda word: word == _NONE), "compile": ("--self-test", lambda word: "=" in word)}
    option, is_value = takes.get("".join(argv[:1]), ("", bool))
    behind = (*argv, "")[1:]
    return [
        f"{word}=" if word == option and not is_value(after) else word for word, after in zip(argv, behind, strict=True)
    ]


def _check_explained(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End the process where options of `explain` do not belong together."""
    if arguments.tile is not None and arguments.edge is None:
        parser.error("argument --tile: it cuts the block that an edge leads to; give --edge FROM TO, too")
    if (arguments.other is not None) != arguments.fusion_diff:
        parser.error("argument --fusion-diff: it compares two programs or ledgers; give both, and no second one else")
    views = ("access", "block", "edge", "fusion_svg", "fusion_json", "fusion_diff", "memory", "memory_svg", "summary")
    views += ("plan_json",)
    view = next((f"--{name.replace('_', '-')}" for name in views if getattr(arguments, name) not in (None, False)), "")
    is_of_fusion = view.startswith(("--fusion", "--memory", "--summary", "--plan-json"))
    is_alone = not view and (arguments.fusion is None or (arguments.fusion == _NONE and arguments.plan == ""))
    if arguments.plan == "" and not is_alone and view != "--plan-json":
        parser.error(f"argument --plan: expected a plan beside {view or '--fusion'}")
    arguments.plans = is_alone and arguments.plan is not None
    if arguments.plans or arguments.plan_json:  # a GPU's have most to tell
        arguments.plan, arguments.target = arguments.plan or None, arguments.target or "sim"
        return
    if view and (arguments.fusion == "" or (arguments.fusion is not None and not is_of_fusion)):
        parser.error(f"argument --fusion: not allowed with argument {view}; ask for one after the other")
    asked = {"--fuse": arguments.fuse, "--no-fuse": arguments.no_fuse, "--plan": arguments.plan}
    given = next((option for option, value in asked.items() if value), None)
    if given is not None and arguments.fusion is None and not is_of_fusion:
        known = "--fusion, --fusion-json, --fusion-svg FILE, --fusion-diff, --memory, --summary or --plan"
        parser.error(f"argument {given}: it is about which ops share a kernel; give {known}, too")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tinyc", description=_DESCRIPTION, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", required=True, metavar=" | ".join(_COMMANDS))
    run = commands.add_parser("run", help="compile a program and run it, or run a model", allow_abbrev=False)
    _add_program(run)
    _add_target(run)
    _add_inputs(run)
    _add_threads(run)
    run.add_argument("--outputs", type=Path, metavar="FILE.npz", help="write the outputs there (bf16 as uint16 bits)")
    run.add_argument("--profile", action="store_true", help="print what each region took, beside what was predicted")
    run.add_argument("--log", type=Path, metavar="FILE.csv", help="append the same there, as CSV")
    shown = "with --target sim: print how long each kernel would take on a GPU, by the clock"
    run.add_argument("--time", action="store_true", help=shown)
    shown = "with --time: a100, h100, h200, a6000 (default: the one that --arch is for)"
    run.add_argument("--device", metavar="DEVICE", help=shown)
    shown = "of a model that has a self-test: run that, and nothing else; status 1 where an output is too far off"
    run.add_argument("--self-test", action="store_true", help=shown)
    run.add_argument("--check", action="store_true", help="compare with the reference; status 1 where they differ")
    compiled = commands.add_parser("compile", help="compile a program, write it or its layers", allow_abbrev=False)
    _add_program(compiled)
    _add_target(compiled)
    shown = "write the compiled model there, for tinyc run and tinyc.load; without it and --dump: how large it is"
    compiled.add_argument("-o", "--output", type=Path, metavar="FILE.tinyc", help=shown)
    shown = "write a C library for the CPU there, and FILE.h beside it; needs a C compiler (cc, or $CC)"
    compiled.add_argument("--emit-lib", type=Path, metavar="FILE.so", help=shown)
    compiled.add_argument("--prefix", metavar="NAME", help="what its functions begin with (default: model)")
    shown = (
        "the CPU that the code of target cpu is for: host, x86-64, x86-64-v2, -v3, -v4, v4+amx, aarch64 (default: host)"
    )
    compiled.add_argument("--cpu", metavar="CPU", help=shown)
    shown = "put inputs, of these sizes of symbols, and the outputs of the reference for them into the model"
    compiled.add_argument("--self-test", nargs="?", type=_bind, const={}, metavar="M=16,N=32", help=shown)
    _add_inputs(compiled)
    compiled.set_defaults(random=None)  # so that it shows whether it is given
    verify = commands.add_parser("verify", help="compare all layers on the same inputs", allow_abbrev=False)
    _add_program(verify)
    _add_target(verify)
    _add_inputs(verify)
    shown = f"the program that a lowered dump was made of, which the reference runs; or {_ONNXRUNTIME}, which runs an "
    shown += "ONNX model beside the target"
    verify.add_argument("--against", metavar="PROGRAM", help=shown)
    verify.set_defaults(runtime=None)
    explain = commands.add_parser("explain", help="say how a program's values are read, and why", allow_abbrev=False)
    _add_explained(explain)
    bench = commands.add_parser("bench", help="time a program, also beside onnxruntime", allow_abbrev=False)
    _add_program(bench)
    _add_target(bench)
    _add_inputs(bench)
    shown = "time it by turns with this, on the same model and inputs, and compare the numbers"
    bench.add_argument("--against", dest="runtime", choices=(_ONNXRUNTIME,), help=shown)
    _add_threads(bench)
    bench.add_argument("--runs", type=_count, default=20, metavar="N", help="how often (default: 20)")
    bench.add_argument("--svg", type=Path, metavar="FILE", help="write the times there, as bars")
    shown = "list what is kept of earlier compilations, bound it, or clear it"
    _add_cache(commands.add_parser("cache", help=shown, allow_abbrev=False))
    # What follows these is the simulator's to read: cli hands it on.
    commands.add_parser("simulate", help="run and check a kernel of a PTX file", add_help=False)
    commands.add_parser("time", help="say how long a kernel of a PTX file would take on a GPU", add_help=False)
    return parser


def _add_cache(parser: argparse.ArgumentParser) -> None:
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--clear", action="store_true", help="drop all")
    shown = "drop what was used longest ago, until all make at most so many bytes"
    one.add_argument("--bound", type=_size_bytes, metavar="512M", help=shown)


def _version() -> str:
    from tinyc import __version__

    return f"tinyc {__version__}"


def _add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", help="the program's file, or - for standard input")
    _add_given(parser)
    layers = "; ".join(f"{', '.join(LISTINGS[target])} for {target}" for target in LAST_LISTING)
    shown = f"write the text of layers: {layers}"
    parser.add_argument("--dump", type=_layers, action=_Collected, metavar="LAYER,…", help=shown)
    parser.add_argument("--stock-printing", action="store_true", help="dump IR as mlir-opt prints it")
    shown = "dump all elements of the program's constants, so that a dump runs; else large ones are left out"
    parser.add_argument("--dump-constants", action="store_true", help=shown)
    parser.add_argument("--dump-dir", type=Path, metavar="DIR", help="where (default: tinyc-dump); alone: all layers")
    parser.add_argument("--remarks", action="store_true", help="print the compiler's decisions to stderr")
    parser.add_argument("--remarks-json", type=Path, metavar="FILE", help="write them there, one JSON object a line")


def _add_machine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", help=f"{', '.join(LISTINGS)} (default: {DEFAULT_TARGET})")
    architectures = f"{', '.join(target.name for target in ARCHITECTURES)} (default: {DEFAULT_ARCH})"
    several = "what is compiled for cuda may have several, with a comma between"
    shown = f"the GPU's architecture for sim and cuda: {architectures}; {several}"
    parser.add_argument("--arch", metavar="ARCH", help=shown)


def _add_target(parser: argparse.ArgumentParser) -> None:
    _add_machine(parser)
    shown = "plans for kernels, and edges to fuse or keep: a file, or JSON or DSL text"
    parser.add_argument("--plan", metavar="PLAN", help=shown)
    _add_edges(parser)
    _add_sizes(parser)
    parser.add_argument("--fusion", choices=(_NONE,), metavar=_NONE, help="a kernel for each op")
    parser.add_argument(
        "--line-info", action="store_true", help="write .loc into the PTX: lines of the dumped gpu layer"
    )


def _add_threads(parser: argparse.ArgumentParser) -> None:
    shown = "how many threads a run on the CPU has (default: TINYC_THREADS, else one for each CPU)"
    parser.add_argument("--threads", type=_thread_count, metavar="N", help=shown)


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    shown = "sizes that runs are expected to have, or what they are at most, M<=64: kernels get alternatives for them "
    shown += "(may be repeated; the first that a run has decides)"
    parser.add_argument("--sizes", type=_size_set, action="append", default=[], metavar="M=128,N=64", help=shown)


def _add_edges(parser: argparse.ArgumentParser) -> None:
    for option, shown in (("--fuse", "fuse this edge, B reading A, if that is legal"), ("--no-fuse", "keep this edge")):
        parser.add_argument(option, action="append", default=[], metavar="A,B", help=f"{shown} (may be repeated)")


def _add_explained(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "program", help="the program's file: Tiny JSON, a model (.onnx), or a dump of either layer; or -"
    )
    parser.add_argument("other", nargs="?", metavar="OTHER", help="with --fusion-diff: another program, or a ledger")
    _add_given(parser)
    shown = f"which ops share a kernel, and why; '{_NONE}', also beside another --fusion-…: with a kernel for each op"
    parser.add_argument("--fusion", nargs="?", type=_fusion_value, metavar=_NONE, help=shown)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--access", metavar="VALUE", help="how a value reads, movement by movement")
    one.add_argument("--block", metavar="NAME", help="what a statement computes, and why it is of its kind")
    one.add_argument("--edge", nargs=2, metavar=("FROM", "TO"), help="the dependences between two blocks")
    one.add_argument("--fusion-svg", type=Path, metavar="FILE", help="write --fusion there, as a drawing of the graph")
    shown = "parameters, bytes, arena, and each region with its predicted time; what a model is explained by"
    one.add_argument("--summary", action="store_true", help=shown)
    one.add_argument("--memory", action="store_true", help="where buffers lie in the arena over time, and their bytes")
    one.add_argument("--memory-svg", type=Path, metavar="FILE", help="write --memory there, as a drawing")
    one.add_argument("--plan-json", action="store_true", help="--plan as JSON, with all plans that were considered")
    one.add_argument("--fusion-json", action="store_true", help="the same as JSON, a ledger")
    one.add_argument(
        "--fusion-diff", action="store_true", help="which decisions differ between two programs or ledgers"
    )
    parser.add_argument("--tile", type=_tile, metavar="m=16,n=32", help="with --edge: sizes of axes of TO's tile")
    _add_machine(parser)
    shown = "the plan of each kernel, on target sim unless another one is said, and what it was chosen from; beside "
    shown += "another view a plan table, whose 'fusion' has edges to fuse or keep"
    parser.add_argument("--plan", nargs="?", const="", metavar="PLAN", help=shown)
    _add_edges(parser)
    _add_sizes(parser)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--inputs", type=Path, metavar="FILE.npz", help="the inputs by name (bf16 as uint16 bits)")
    group.add_argument("--random", type=_seed, default=0, metavar="SEED", help="random inputs (default: seed 0)")


def _add_given(parser: argparse.ArgumentParser) -> None:
    """What a program is given when it is read: sizes of symbols, values of inputs, and which inputs are weights."""
    shown = "sizes of symbols"
    parser.add_argument("--bind", type=_bind, action=_Collected, default={}, metavar="M=150,N=130", help=shown)
    shown = "fix an input of an ONNX model, by its value in JSON (may be repeated)"
    parser.add_argument("--constant", type=_constant, action=_Collected, default={}, metavar="axes=[1]", help=shown)
    shown = "weights by name, of a .npz or .safetensors file: given once, and kept in the model"
    parser.add_argument("--weights", type=Path, metavar="FILE", help=shown)


class _Collected(argparse.Action):
    """An option that may be repeated, its sizes by name or its names being those of all its places."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest) or type(values)()
        twice = [name for name in values if name in before]
        if twice and isinstance(values, dict):
            raise argparse.ArgumentError(self, f"{twice[0]!r} is given twice")
        setattr(namespace, self.dest, before | values if isinstance(values, dict) else (*before, *values))


def _bind(text: str) -> dict[str, int]:
    return _sizes(text, "SYMBOL")


def _size_set(text: str) -> dict[str, int | str]:
    """A set of sizes: `M=128,N<=64`."""
    try:
        return read_set(text).values
    except TinycError as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _tile(text: str) -> dict[str, int]:
    return _sizes(text, "AXIS")


def _sizes(text: str, what: str) -> dict[str, int]:
    """Sizes by name: `m=16,n=32`."""
    sizes: dict[str, int] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not name or not equals or not _is_number(value, 19):
            raise argparse.ArgumentTypeError(f"{part!r} does not read as {what}=SIZE")
        if name in sizes:
            raise argparse.ArgumentTypeError(f"{name!r} is given twice")
        sizes[name] = int(value)
    return sizes


def _constant(text: str) -> dict[str, Any]:
    """The value of an input by its name: `axes=[1]`."""
    name, equals, value = text.partition("=")
    try:
        if not name.strip() or not equals:
            raise ValueError
        return {name.strip(): json.loads(value)}
    except (ValueError, RecursionError):
        raise argparse.ArgumentTypeError(f"{text!r} does not read as NAME=VALUE, its value in JSON: axes=[1]") from None


def _layers(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in _LAYERS]
    if unknown or not names:
        known = ", ".join(_LAYERS)
        raise argparse.ArgumentTypeError(f"there is no layer {', '.join(unknown) or repr(text)}; there are {known}")
    return names


def _fusion_value(text: str) -> str:
    if text not in ("", _NONE):
        raise argparse.ArgumentTypeError(f"{text!r} is not {_NONE!r}, which fuses nothing; write that, or leave it out")
    return text


def _count(text: str, most: int = 9_999_999) -> int:
    if not _is_number(text, 7) or not 1 <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} is no such number; give an integer in 1 … {most:,}")
    return int(text)


def _thread_count(text: str) -> int:
    return _count(text, MAX_THREADS)


def _size_bytes(text: str) -> int:
    from tinyc.cache.folder import bytes_said

    try:
        return bytes_said(text)
    except ValueError:
        message = f"{text!r} is no number of bytes; give one such as 4294967296, 512M or 4G"
        raise argparse.ArgumentTypeError(message) from None


def _seed(text: str) -> int:
    if not _is_number(text, 18):
        raise argparse.ArgumentTypeError(f"{text!r} is not a seed; give a non-negative integer")
    return int(text)


def _is_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits
