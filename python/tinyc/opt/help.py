"""The help of `tinyc-opt`: what passes there are, and a page on one of them, tinyc's, an own one or MLIR's.

A page on a pass of Python is its docstring. One on a pass of MLIR's has MLIR's words, from the bindings' library.
"""

import dataclasses
import inspect
import re
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

from tinyc.diagnostics import TinycError, suggest
from tinyc.mlir import PROVIDER
from tinyc.mlir.pass_help import upstream_passes
from tinyc.passes import Pass, Upstream
from tinyc.passes.options import option_name
from tinyc.passes.pipeline_text import is_upstream, parse_flag

_DEFAULT = re.compile(r"([\w-]+)=(\S+)")


def list_passes(known: Sequence[type[Pass]]) -> str:
    """A line on each pass, and a line on each option of those of Python."""
    sections = (
        ("passes, in walk order", {each.name: _summary(each) for each in known if each.loaded_from is None}),
        ("own passes", {each.name: _summary(each) for each in known if each.loaded_from is not None}),
        ("passes of MLIR's own; --help=PASS lists their options", _upstream_summaries()),
    )
    return "".join(_section(title, summaries) for title, summaries in sections if summaries)


def describe_pass(name: str, known: Sequence[type[Pass]]) -> str:
    """The page on a pass.

    Raises:
        TinycError: `UnknownPass`: there is none of that name.
    """
    for each in known:
        if each.name == name:
            doc = (inspect.getdoc(each) or "").replace("\n", "\n  ")
            options = "".join(f"\n  {_option_help(field)}" for field in dataclasses.fields(each))
            return f"--{name}\n  {doc}{options and chr(10) + options}\n"
    if not is_upstream(name):
        names = [*(each.name for each in known), *upstream_passes()]
        raise TinycError("UnknownPass", f"--help: there is no pass '{name}'{suggest(name, names)}")
    return f"--{name}\n{_upstream_page(name)}"


def package_version(package: str) -> str:
    """The version of an installed package."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _section(title: str, summaries: Mapping[str, Sequence[str]]) -> str:
    """A list of passes, each with lines behind its name."""
    column = max(map(len, summaries)) + 6
    behind = f"\n{'':{column}}"
    return (
        f"{title}:\n"
        + "".join(f"{f'  --{name}':<{column}}{behind.join(summaries[name])}\n" for name in summaries)
        + "\n"
    )


def _summary(known: type[Pass]) -> list[str]:
    """The first line of a pass's docstring, and its options below it."""
    return [(inspect.getdoc(known) or "").partition("\n")[0], *map(_option_help, dataclasses.fields(known))]


def _upstream_summaries() -> dict[str, list[str]]:
    return {name: [each.summary] for name, each in sorted(upstream_passes().items())}


def _option_help(field: "dataclasses.Field[Any]") -> str:
    default = "" if field.default in (dataclasses.MISSING, None) else f" [{field.default}]"
    return f"{option_name(field)}=…: {field.metadata.get('doc', '')}{default}"


def _upstream_page(name: str) -> str:
    """What MLIR says of a pass, or which passes a pipeline of MLIR's stands for, and where that is from."""
    package = PROVIDER.partition(".")[0]
    source = f"MLIR's own, in the words of the bindings, {package} {package_version(package)}"
    steps = [step for step in parse_flag(name, "", ()) if isinstance(step, Upstream)]
    told = upstream_passes().get(name)
    if told is None and len(steps) != 1:
        passes = "".join(f"\n    {step.text()}" for step in steps)
        return f"  A pipeline of MLIR's own. It stands for{passes}\n"
    defaults = dict(_DEFAULT.findall(steps[0].leaf.partition("{")[2].rstrip("}")))
    anchors = "".join(f"\n  It works on each {anchor}." for anchor in steps[0].anchors)
    if told is None:  # bindings that keep the list to themselves
        options = "".join(f"\n  {option}=… [{default}]" for option, default in defaults.items())
        return f"  MLIR's own; the bindings, {package}, say no more than these options.{anchors}{options}\n"
    lines = [_told(option, text, defaults) for option, text in told.options]
    options = "".join(f"\n  {line}" for line in lines)
    return f"  {told.summary}\n  ({source}){anchors}\n{options}{options and chr(10)}"


def _told(option: str, text: str, defaults: dict[str, str]) -> str:
    default = defaults.get(option.removesuffix("=…"))
    return f"{option}{text and ': '}{text}" + (f" [{default}]" if default is not None else "")
