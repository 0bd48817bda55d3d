"""The table of contents: every pass of tinyc's in walk order, and pipelines that mix them with MLIR's own.

In: text such as `builtin.module(tiny-to-region,func.func(cse),region-to-loops)`, with or without the outer
`builtin.module`. Out: a `Pipeline`, whose `run(module)` edits a module and whose `text()` says the same again with
every option of MLIR's passes spelled out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from tinyc import passes
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec.expand_f16 import ExecExpandF16
from tinyc.dialects.exec.to_llvm import ExecToLlvm
from tinyc.dialects.gpu.expand import GpuExpand
from tinyc.dialects.gpu.to_cuda import GpuToCuda
from tinyc.dialects.gpu.to_nvvm import GpuToNvvm
from tinyc.dialects.nvvm.to_ptx import NvvmToPtx
from tinyc.dialects.region.plan import RegionPlan
from tinyc.dialects.region.to_exec import RegionToExec
from tinyc.dialects.region.to_gpu import RegionToGpu
from tinyc.dialects.region.to_loops import RegionToLoops
from tinyc.dialects.tiny.to_index_book import TinyToIndexBook
from tinyc.dialects.tiny.to_poly import TinyToPoly
from tinyc.dialects.tiny.to_region import TinyToRegion
from tinyc.mlir import context, passmanager
from tinyc.passes import Instrument, Pass, Step, Upstream, suggest

#: In walk order.
PASSES: tuple[type[Pass], ...] = (
    TinyToIndexBook,
    TinyToPoly,
    TinyToRegion,
    RegionPlan,
    RegionToGpu,  # before the host is lowered: the launch contracts of a GPU come from its kernels
    GpuToCuda,  # the other way out of gpu: it expands the kernels itself
    GpuExpand,
    GpuToNvvm,
    NvvmToPtx,
    RegionToExec,  # before the kernels are loops: the launch contracts come from their region form
    RegionToLoops,
    ExecExpandF16,  # while the conversions are still arith ops
    ExecToLlvm,
)

ROOT = "builtin.module"
_MAX_NESTING = 64


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes."""

    steps: tuple[Step, ...]

    def run(self, module: Any, instruments: Sequence[Instrument] = (), verify_each: bool = True) -> None:
        """Take `module` (an `ir.Module`) through the passes, in place; raises as `passes.run`."""
        passes.run(module, self.steps, instruments, verify_each)

    def text(self) -> str:
        """Return the pipeline as text that `parse` reads."""
        parts = []
        for anchors, steps in groupby(self.steps, key=lambda s: s.anchors if isinstance(s, Upstream) else ()):
            inner = ",".join(step.leaf if isinstance(step, Upstream) else step.text() for step in steps)
            parts.append("".join(f"{anchor}(" for anchor in anchors) + inner + ")" * len(anchors))
        return f"{ROOT}({','.join(parts)})"


def parse(text: str, known: Sequence[type[Pass]] = PASSES) -> Pipeline:
    """Return the pipeline that `text` spells; `known` are the passes of tinyc's that it may name.

    Raises:
        TinycError: `UnknownPass`: the text is malformed, or names a pass or an option that does not exist.
    """
    nodes = list(_Reader(text).elements())
    if len(nodes) == 1 and nodes[0].name == ROOT and nodes[0].children is not None:
        nodes = nodes[0].children
    return Pipeline(tuple(step for node in nodes for step in _steps(node, (), known)))


def flag(name: str, options: str, known: Sequence[type[Pass]] = PASSES) -> list[Step]:
    """Return what the command line spells `--name=options`: a pass, or the passes of a named pipeline of MLIR's.

    A pass of MLIR's that works on another op than the module is nested in that op, as `mlir-opt` does.

    Raises:
        TinycError: `UnknownPass`.
    """
    try:
        return _leaf(name, options, (), known)
    except TinycError as error:
        anchor = _RESTRICTED.search(error.message)
        if anchor is None:
            raise
        return _leaf(name, options, (anchor.group(1),), known)


_RESTRICTED = re.compile(r"restricted to '([\w.]+)' on a PassManager")


@dataclass(frozen=True)
class _Node:
    """`name{options}`, or `name(children)`."""

    name: str
    options: str = ""
    children: "list[_Node] | None" = None


def _steps(node: _Node, anchors: tuple[str, ...], known: Sequence[type[Pass]]) -> Iterator[Step]:
    if node.children is None:
        yield from _leaf(node.name, node.options, anchors, known)
        return
    for child in node.children:
        yield from _steps(child, (*anchors, node.name), known)


def _leaf(name: str, options: str, anchors: tuple[str, ...], known: Sequence[type[Pass]]) -> list[Step]:
    table = {each.name: each for each in known}
    if name not in table:
        return _upstream(name, options, anchors, table)
    if anchors:
        message = f"'{name}' works on whole modules; take it out of '{anchors[-1]}(…)'"
        raise TinycError("UnknownPass", message)
    return [table[name].from_options(read_options(options))]


def _upstream(name: str, options: str, anchors: tuple[str, ...], table: dict[str, Any]) -> list[Step]:
    step = Upstream(name, f"{name}{{{options}}}" if options else name, anchors)
    try:
        canonical = str(passmanager.PassManager.parse(f"{ROOT}({step.text()})", context()))
    except ValueError as error:
        what = " ".join(str(error).split())
        if "does not refer to a registered pass" in what:
            message = f"'{name}' is neither a pass of tinyc's nor one of MLIR's{suggest(name, table)}"
        else:
            message = f"MLIR refuses '{step.text()}': {what}"
        raise TinycError("UnknownPass", message) from None
    prefix = f"{ROOT}(" + "".join(f"{anchor}(" for anchor in anchors)
    leaf = re.sub(" +", " ", canonical[len(prefix) : -1 - len(anchors)])
    nodes = list(_Reader(leaf).elements())
    if len(nodes) == 1 and nodes[0].children is None:
        return [Upstream(nodes[0].name, leaf, anchors)]
    return [each for node in nodes for each in _steps(node, anchors, ())]


#: What to do where a value has blanks or braces of its own.
_QUOTES = "; put a value with blanks, braces or quotes into quotes: key='{…}'"
_OPTION = re.compile(r"""\s*([\w-]+)(?:=("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']*))?(?=\s|$)""")


def read_options(text: str) -> dict[str, str]:
    """Return the options that `key=value key2="quoted value" flag` spells.

    Raises:
        TinycError: `UnknownPass`: the text is malformed, or gives an option twice.
    """
    options: dict[str, str] = {}
    position = 0
    while text[position:].strip():
        match = _OPTION.match(text, position)
        if match is None:
            raise TinycError("UnknownPass", f"pass options '{text}' do not read as key=value key2=value2{_QUOTES}")
        key, value = match.group(1), match.group(2) or ""
        if key in options:
            raise TinycError("UnknownPass", f"pass options '{text}' give '{key}' twice")
        options[key] = re.sub(r"\\(.)", r"\1", value[1:-1]) if value[:1] in ("'", '"') else value
        position = match.end()
    return options


class _Reader:
    """Reads `element (',' element)*` where an element is `name`, `name{options}` or `name(elements)`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def elements(self) -> Iterator[_Node]:
        """Yield the elements of the whole text."""
        yield from self._list(0)
        if self.position < len(self.text):
            raise self._error("expected ',' or the end")

    def _list(self, depth: int) -> list[_Node]:
        if depth > _MAX_NESTING:
            raise self._error(f"nested more than {_MAX_NESTING} deep")
        nodes: list[_Node] = []
        if self._peek() in ("", ")"):
            return nodes
        nodes.append(self._element(depth))
        while self._peek() == ",":
            self.position += 1
            nodes.append(self._element(depth))
        return nodes

    def _element(self, depth: int) -> _Node:
        self._peek()
        match = re.compile(r"[\w.-]+").match(self.text, self.position)
        if match is None:
            raise self._error("expected the name of a pass")
        self.position = match.end()
        if self._peek() == "{":
            return _Node(match.group(), self._options())
        if self._peek() != "(":
            return _Node(match.group())
        self.position += 1
        children = self._list(depth + 1)
        if self._peek() != ")":
            raise self._error("expected ',' or ')'")
        self.position += 1
        self._peek()
        return _Node(match.group(), children=children)

    def _options(self) -> str:
        """Return what stands between the brace here and its partner; quoted text may hold any brace."""
        start, depth = self.position + 1, 0
        for match in re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{}]""").finditer(self.text, self.position):
            depth += {"{": 1, "}": -1}.get(match.group(), 0)
            if depth == 0:
                self.position = match.end()
                self._peek()
                return self.text[start : match.start()].strip()
        raise self._error("expected '}'")

    def _peek(self) -> str:
        """Skip white space and return the next character, or "" at the end."""
        while self.text[self.position : self.position + 1].isspace():
            self.position += 1
        return self.text[self.position : self.position + 1]

    def _error(self, what: str) -> TinycError:
        before, after = self.text[: self.position][-40:], self.text[self.position :][:40]
        return TinycError("UnknownPass", f"pipeline: {what} at column {self.position + 1}: {before}⟨here⟩{after}")
