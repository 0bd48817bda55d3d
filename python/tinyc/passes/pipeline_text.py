"""Pipelines as text: `builtin.module(tiny-to-region,func.func(cse),region-to-loops)`, the outer module left out or not.

In: text, and the passes of tinyc's that it may name. Out: a `Pipeline`, whose `run(module)` edits a module and whose
`text()` says the same again with every option of MLIR's passes spelled out.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tinyc.diagnostics import TinycError, suggest
from tinyc.dialects.registry import context
from tinyc.mlir import builtin, ir, passmanager
from tinyc.mlir.pass_help import upstream_passes
from tinyc.passes.options import split_options
from tinyc.passes.runner import run_passes
from tinyc.passes.step import Instrument, Pass, Step, Upstream

_ROOT = builtin.ModuleOp.OPERATION_NAME
_MAX_NESTING = 64


@dataclass(frozen=True)
class Pipeline:
    """A sequence of passes."""

    steps: tuple[Step, ...]

    def run(self, module: ir.Module, instruments: Sequence[Instrument] = (), verify_each: bool = True) -> None:
        """Take `module` through the passes, in place; raises as `run_passes`."""
        run_passes(module, self.steps, instruments, verify_each)

    def text(self) -> str:
        """The pipeline as text that `parse_pipeline` reads."""
        parts: list[str] = []
        for anchors, steps in groupby(self.steps, key=lambda s: s.anchors if isinstance(s, Upstream) else ()):
            inner = ",".join(step.leaf if isinstance(step, Upstream) else step.text() for step in steps)
            parts.append("".join(f"{anchor}(" for anchor in anchors) + inner + ")" * len(anchors))
        return f"{_ROOT}({','.join(parts)})"


def parse_pipeline(text: str, known: Sequence[type[Pass]]) -> Pipeline:
    """The pipeline that `text` spells; `known` are the passes of tinyc's that it may name.

    Raises:
        TinycError: `InvalidPipeline`: the text is malformed, or nests a pass where it cannot work; `UnknownPass`;
            `InvalidOption`.
    """
    nodes = _Reader(text).nodes()
    if len(nodes) == 1 and nodes[0].name == _ROOT and nodes[0].children is not None:
        nodes = nodes[0].children
    table = {each.name: each for each in known}
    return Pipeline(tuple(step for node in nodes for step in _steps_of(node, (), table)))


def parse_flag(name: str, options: str, known: Sequence[type[Pass]]) -> list[Step]:
    """The steps that the command line spells `--name=options`: a pass, or the passes of a named pipeline of MLIR's.

    A pass of MLIR's that works on another op than the module is nested in that op, as `mlir-opt` does.

    Raises:
        TinycError: `UnknownPass`, `InvalidOption`, or `InvalidPipeline` where the name is none.
    """
    table = {each.name: each for each in known}
    try:
        return _leaf(name, options, (), table)
    except TinycError as error:
        anchor = _RESTRICTED.search(error.message)
        if anchor is None:
            raise
        return _leaf(name, options, (anchor.group(1),), table)


def is_upstream(name: str) -> bool:
    """Whether MLIR has a pass, or a pipeline of passes, of that name."""
    try:
        parse_flag(name, "", ())
    except TinycError as error:
        # One that only wants options, or another op to work on, is one.
        return _NAME.fullmatch(name) is not None and error.name != "UnknownPass"
    return True


_NAME = re.compile(r"[\w.-]+")
_RESTRICTED = re.compile(r"restricted to '([\w.]+)' on a PassManager")


@dataclass(frozen=True)
class _Node:
    """`name{options}`, or `name(children)`."""

    name: str
    options: str = ""
    children: "list[_Node] | None" = None


def _steps_of(node: _Node, anchors: tuple[str, ...], table: Mapping[str, type[Pass]]) -> Iterator[Step]:
    if node.children is None:
        yield from _leaf(node.name, node.options, anchors, table)
        return
    for child in node.children:
        yield from _steps_of(child, (*anchors, node.name), table)


def _leaf(name: str, options: str, anchors: tuple[str, ...], table: Mapping[str, type[Pass]]) -> list[Step]:
    if name not in table:
        return _upstream(name, options, anchors, table)
    if anchors:
        message = f"'{name}' works on whole modules; take it out of '{anchors[-1]}(…)'"
        raise TinycError("InvalidPipeline", message)
    return [table[name].from_options(split_options(options))]


def _upstream(name: str, options: str, anchors: tuple[str, ...], table: Mapping[str, type[Pass]]) -> list[Step]:
    step = Upstream(f"{name}{{{options}}}" if options else name, anchors)
    try:
        canonical = str(passmanager.PassManager.parse(f"{_ROOT}({step.text()})", context()))
    except ValueError as error:
        what = " ".join(str(error).split())
        if "does not refer to a registered pass" in what:
            names = [*table, *(upstream_passes() if table else ())]  # without passes it is a question, not an error
            message = f"'{name}' is neither a pass of tinyc's nor one of MLIR's{suggest(name, names)}"
            raise TinycError("UnknownPass", message) from None
        misplaced = _RESTRICTED.search(what) is not None and "no such option" not in what
        refused = "InvalidOption" if options and not misplaced else "InvalidPipeline"
        raise TinycError(refused, f"MLIR refuses '{step.text()}': {what}") from None
    prefix = f"{_ROOT}(" + "".join(f"{anchor}(" for anchor in anchors)
    leaf = re.sub(" +", " ", canonical[len(prefix) : -1 - len(anchors)])
    nodes = _Reader(leaf).nodes()
    if len(nodes) == 1 and nodes[0].children is None:
        return [Upstream(leaf, anchors)]
    return [each for node in nodes for each in _steps_of(node, anchors, {})]


class _Reader:
    """Reads `element (',' element)*` where an element is `name`, `name{options}` or `name(elements)`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def nodes(self) -> list[_Node]:
        """The elements of the whole text."""
        nodes = self._list(0)
        if self.position < len(self.text):
            raise self._error("expected ',' or the end")
        return nodes

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
        match = _NAME.match(self.text, self.position)
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
        """The text between the brace here and its partner; quoted text may hold any brace."""
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
        return TinycError("InvalidPipeline", f"pipeline: {what} at column {self.position + 1}: {before}⟨here⟩{after}")
