"""The command line of `tinyc-opt`: `mlir-opt`'s spellings, read by argparse, with the pass flags kept in order.

In: the arguments. Out: an `argparse.Namespace` with `steps`, the passes that the flags name in their order.
"""

import argparse
import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from tinyc.diagnostics import REMARKS, Remark, TinycError, suggest
from tinyc.mlir.pass_help import upstream_passes
from tinyc.opt.help import describe_pass, list_passes
from tinyc.passes import Pass, Step
from tinyc.passes.loading import check_names, installed_passes, load_passes
from tinyc.passes.pipeline_text import is_upstream, parse_flag, parse_pipeline

_DESCRIPTION = "Run passes on MLIR text, spelled as in mlir-opt. The IR goes to stdout, everything else to stderr."
_EPILOG = """\
Each pass of MLIR's own is a flag too (--cse, --canonicalize, --convert-scf-to-cf). Passes run in the order given;
options are --pass=key=value or --pass="key=value key2=value2". --help=PASS, or --help beside pass flags, explains those
in full."""

#: The kinds of remarks, each with a filter of its own.
REMARK_KINDS = tuple(sorted(set(REMARKS.values())))


class _Parser(argparse.ArgumentParser):
    """An argparse parser that raises instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong.

        Raises:
            TinycError: always.
        """
        raise TinycError("InvalidOption", f"{message}; tinyc-opt --help lists the options")


def read_opt_command_line(argv: Sequence[str], tinycs: Sequence[type[Pass]]) -> argparse.Namespace:
    """The run that `argv` asks for: `known` are `tinycs`, the passes of tinyc's, and own ones behind them.

    Raises:
        TinycError: `InvalidOption`: an unknown flag or option, or a value that does not fit; `UnknownPass`,
            `InvalidPipeline`, `InvalidPass`.
    """
    parser = _parser()
    flags: dict[str, argparse.Action] = parser._option_string_actions  # argparse has no public way to ask
    plain, passes = _split(list(argv), flags)
    arguments = parser.parse_args(plain)
    known = arguments.known = [*tinycs, *_own_passes(arguments.load_pass, tinycs, flags)]
    if arguments.help is not None:
        arguments.help_text = _help(parser, [*arguments.help, *(name for name, _ in passes)], known)
        return arguments
    steps: list[Step] = []
    for name, options in passes:
        try:
            steps += parse_flag(name, options, known)
        except TinycError as error:
            if error.name != "UnknownPass":
                raise
            hint = _close(f"--{name}", [*flags, *(f"--{each}" for each in _names_of_passes(known))])
            raise TinycError("InvalidOption", f"unknown flag '--{name}'{hint}") from None
    _check_combinations(arguments, steps)
    if arguments.pass_pipeline is not None:
        steps = list(parse_pipeline(arguments.pass_pipeline, known).steps)
    arguments.steps = steps
    for when in ("before", "after"):
        for name in getattr(arguments, f"mlir_print_ir_{when}"):
            _check_pass(name, f"--mlir-print-ir-{when}", known)
    return arguments


def _own_passes(
    files: Sequence[str], tinycs: Sequence[type[Pass]], flags: Mapping[str, argparse.Action]
) -> list[type[Pass]]:
    """The passes of installed packages and of the files of `--load-pass`, none of which hides another or a flag."""
    own = [*installed_passes(), *(each for file in dict.fromkeys(files) for each in load_passes(file))]
    taken = {flag.lstrip("-"): "an option of tinyc-opt" for flag in flags}
    check_names(own, taken | {each.name: "a pass of tinyc's" for each in tinycs})
    return own


def _check_combinations(arguments: argparse.Namespace, steps: Sequence[Step]) -> None:
    """Raise where options do not go together."""
    if steps and arguments.pass_pipeline is not None:
        raise TinycError("InvalidOption", "--pass-pipeline and pass flags cannot be mixed; put all passes into one")
    if arguments.run_reproducer and (steps or arguments.pass_pipeline is not None):
        raise TinycError(
            "InvalidOption", "--run-reproducer takes the passes from the input; leave all other passes out"
        )
    if arguments.emit_bytecode and arguments.split_input_file:
        raise TinycError("InvalidOption", "--emit-bytecode writes one module; leave --split-input-file out")


def _check_pass(name: str, flag: str, known: Sequence[type[Pass]]) -> None:
    """Raise unless `name` is a pass of Python or of MLIR's."""
    if name not in [each.name for each in known] and not is_upstream(name):
        hint = _close(name, _names_of_passes(known))
        raise TinycError("UnknownPass", f"{flag}: there is no pass '{name}'{hint}")


def _names_of_passes(known: Sequence[type[Pass]]) -> list[str]:
    """The passes of Python and those of MLIR's."""
    return [*(each.name for each in known), *upstream_passes()]


def _close(name: str, known: Sequence[str]) -> str:
    """The end of a message about an unknown name: the names that are like it, if any are."""
    hint = suggest(name, known)
    return hint if "did you" in hint else ""


def _split(argv: list[str], flags: Mapping[str, argparse.Action]) -> tuple[list[str], list[tuple[str, str]]]:
    """The arguments that argparse is to read, and the pass flags with their options.

    argparse cannot tell that `--cse file.mlir` is a flag without a value, and does not know MLIR's passes. A single
    dash does as well as two, as in LLVM's tools.
    """
    plain: list[str] = []
    passes: list[tuple[str, str]] = []
    rest = iter(argv)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "--":
            plain += ["--", *rest]
        elif len(name) < 2 or name[0] != "-":
            plain.append(argument)
        elif (flag := name if name in flags or name[1] == "-" else f"-{name}") not in flags:
            passes.append((flag[2:], _unquote(value)))
        elif equals:
            plain.append(f"{flag}={value}")
        elif flags[flag].nargs == 0:
            plain.append(flag)
        elif flags[flag].nargs == "?":
            plain.append(f"{flag}={flags[flag].const}")
        else:
            plain.append("=".join([flag, *itertools.islice(rest, 1)]))
    return plain, passes


def _unquote(options: str) -> str:
    """Pass options without the braces that a pipeline would have around them."""
    return options[1:-1] if options[:1] == "{" and options[-1:] == "}" else options


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
    return text in ("true", "1")


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"{text!r} is no limit; give an integer from 0 on")
    return int(text)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a regular expression: {error}") from None


def remark_filter(arguments: argparse.Namespace) -> Callable[[Remark], bool] | None:
    """Which remarks are asked for, or None where no filter is given."""
    patterns = {kind: getattr(arguments, f"remarks_filter_{kind}".rstrip("_")) for kind in ("", *REMARK_KINDS)}
    given = {kind: pattern for kind, pattern in patterns.items() if pattern is not None}
    if not given:
        return None
    return lambda remark: any(kind in ("", remark.kind) and each.search(remark.code) for kind, each in given.items())


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _parser() -> _Parser:
    parser = _Parser(
        prog="tinyc-opt",
        usage="tinyc-opt [option …] [--pass[=key=value …] …] [file]",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=False,
        allow_abbrev=False,
    )
    parser.add_argument("input", nargs="?", default="-", help="a file of MLIR text or bytecode; - is stdin")
    parser.add_argument("-o", dest="output", metavar="FILE", default="-", help="write the IR there; - is stdout")
    _add_flag(parser, "--emit-bytecode", "write bytecode in place of text")
    parser.add_argument(
        "-h", "--help", nargs="?", const="", type=_names, metavar="PASS,…", help="print this help, or that of passes"
    )
    _add_flag(parser, "--version", "print the versions of tinyc and of the MLIR bindings")
    _add_flag(parser, "--show-dialects", "print the dialects that are registered")
    parser.add_argument("--emit-irdl", metavar="NAME", help="print the IRDL of one of tinyc's dialects")
    parser.add_argument("--pass-pipeline", metavar="TEXT", help="passes as text: builtin.module(tiny-to-region,cse)")
    parser.add_argument(
        "--load-pass", action="append", default=[], metavar="FILE.py", help="know the passes that a file defines, too"
    )
    _add_flag(parser, "--debug", "print the traceback of an own pass that fails, or of a defect")
    _add_flag(parser, "--dump-pass-pipeline", "print the pipeline that is run")
    _add_flag(parser, "--split-input-file", "treat the pieces between lines '// -----' as separate inputs")
    _add_flag(parser, "--verify-diagnostics", "check what is reported against expected-error {{…}} comments")
    _add_flag(parser, "--verify-roundtrip", "check that the IR survives printing and parsing")
    parser.add_argument(
        "--verify-each",
        nargs="?",
        const="true",
        default=True,
        type=_boolean,
        metavar="BOOL",
        help="verify after each pass (true)",
    )
    _add_flag(parser, "--allow-unregistered-dialect", "accept ops of unknown dialects")
    parser.add_argument(
        "--mlir-generate-reproducer", metavar="FILE", help="write the input with its passes there, and go on"
    )
    _add_flag(parser, "--run-reproducer", "run the passes that stand in the input, a reproducer")
    _add_remarks(parser)
    _add_printing(parser)
    return parser


def _add_remarks(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("remarks: the compiler's decisions")
    _add_flag(group, "--remarks", "print all")
    group.add_argument("--remarks-json", metavar="FILE", help="write them there, one JSON object a line")
    for kind in ("", *REMARK_KINDS):
        group.add_argument(
            f"--remarks-filter-{kind}".rstrip("-"),
            type=_pattern,
            metavar="REGEX",
            help=f"print and write only those {f'of the kind {kind!r} ' if kind else ''}whose code matches",
        )


def _add_flag(parser: argparse._ActionsContainer, name: str, text: str) -> None:
    parser.add_argument(name, action="store_true", help=text)


def _add_printing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("printing and timing (to stderr)")
    _add_flag(group, "--mlir-print-debuginfo", "print locations")
    _add_flag(group, "--stock-printing", "print as mlir-opt does: no names from locations, no aliases for types")
    _add_flag(group, "--mlir-print-op-generic", "print ops in the generic form")
    _add_flag(group, "--mlir-print-local-scope", "print attributes, types and locations in place, without aliases")
    for kind, text in (
        ("elementsattrs", "print dense_resource<__elided__> for attributes of more than N elements"),
        ("resource-strings", "leave out the data of resources that are written in more than N characters"),
    ):
        group.add_argument(f"--mlir-elide-{kind}-if-larger", type=_limit, metavar="N", help=text)
    for when in ("before", "after"):
        group.add_argument(
            f"--mlir-print-ir-{when}",
            action="extend",
            type=_names,
            default=[],
            metavar="PASS,…",
            help=f"print the IR {when} these passes",
        )
        _add_flag(group, f"--mlir-print-ir-{when}-all", f"print the IR {when} each pass")
    _add_flag(group, "--mlir-print-ir-after-change", "print the IR after each pass that changed it")
    _add_flag(group, "--mlir-print-ir-after-failure", "print the IR after a pass that failed")
    group.add_argument("--mlir-print-ir-tree-dir", metavar="DIR", type=Path, help="print the IR to files there")
    _add_flag(group, "--mlir-timing", "print how long each pass took")
    _add_flag(group, "--mlir-pass-statistics", "print what each pass was given and left, in numbers")


def _help(parser: _Parser, asked: Sequence[str], known: Sequence[type[Pass]]) -> str:
    """The pages on the passes that are asked for, or the options and the list of all passes."""
    if asked:
        return "\n".join(describe_pass(name, known) for name in asked)
    parser.epilog = f"{list_passes(known)}{_EPILOG}"
    return parser.format_help()
