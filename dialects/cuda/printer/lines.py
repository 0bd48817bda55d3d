"""The lines of a function taken apart: which are statements with others in braces, and where in a line numbers stand.

A number is one that is an index, an argument or a value, or that is added at the end of one; where none is added, that
is 0. In loops around a line it goes up by the same each time.
"""

import functools
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tinyc.dialects.cuda.printer.instructions import NAMESPACE

_ENDS = re.compile(r"[\],);]| (?=[<?:] )")
_OF_TEMPLATE = re.compile(r"(?<=\w)<[\w, ]*>(?=\()")
#: A number as the whole of an index, an argument or a value, and one that is added.
_WHOLE = re.compile(r"(?:(?<=[\[(])|(?<=, )|(?<=[^=!<>]= ))\d+$")
_ADDED = re.compile(r" \+ (\d+)$")
_TYPE = r"(?:auto|bool|float|double|half|__nv_bfloat16|u?int\d+_t)"
_DECLARATION = re.compile(rf"(?:const {_TYPE} (\w+) = .*|{_TYPE} (\w+)(?:\[\d+\])?(?: = \{{\}})?);")
_READ = re.compile(r"([\w.]+)\[")
_BEGINS_DECLARATION = re.compile(rf"(?:const )?{_TYPE} ")


@dataclass(frozen=True)
class LineNumber:
    """A number in a line: the first time, and how far it goes in each loop around the line, the outermost first."""

    first: int
    is_added: bool
    is_index: bool = False
    steps: tuple[int, ...] = ()

    def text(self, counters: Sequence[str]) -> str:
        """What stands in its place, where loops have these counters."""
        products = [(step, name) for step, name in zip(self.steps, counters, strict=True) if step]
        terms = [name if step == 1 else f"{step} * {name}" for step, name in products]
        terms += [str(self.first)] if self.first or not (terms or self.is_added) else []
        return "".join(f" + {each}" for each in terms) if self.is_added else " + ".join(terms)


@dataclass(frozen=True)
class CppLine:
    """A line: the texts between its numbers. A fixed one is no statement that a loop could have."""

    place: int
    texts: tuple[str, ...]
    numbers: tuple[LineNumber, ...] = ()
    declared: str | None = None
    is_fixed: bool = False

    @functools.cached_property
    def alike(self) -> Hashable:
        """What it has in common with lines that may be alike; None where it is fixed."""
        return None if self.is_fixed else re.sub(r"\d+", "", "".join(self.texts))

    def text(self, counters: Sequence[str]) -> str:
        """The line in loops with these counters."""
        numbers = [each.text(counters) for each in self.numbers]
        return "".join(part for pair in zip(self.texts, [*numbers, ""], strict=True) for part in pair)


@dataclass(frozen=True)
class CppBlock:
    """Statements in braces, behind a line or in a loop that is done so often."""

    head: CppLine | int
    body: tuple["CppNode", ...]

    @functools.cached_property
    def alike(self) -> Hashable:
        """What it has in common with blocks that may be alike; None where a line in it is fixed."""
        found = tuple(line.alike for line in lines_in([self]))
        return None if None in found else found


CppNode: TypeAlias = CppLine | CppBlock


def lines_in(nodes: Sequence[CppNode]) -> Iterator[CppLine]:
    """Yield the lines of nodes, but for those that close a brace."""
    for node in nodes:
        if isinstance(node, CppLine):
            yield node
            continue
        if isinstance(node.head, CppLine):
            yield node.head
        yield from lines_in(node.body)


def with_lines(nodes: Sequence[CppNode], change: Callable[[CppLine], CppLine]) -> tuple[CppNode, ...]:
    """The nodes with each of their lines changed, in the order of `lines_in`."""
    return tuple(_with_lines(node, change) for node in nodes)


def _with_lines(node: CppNode, change: Callable[[CppLine], CppLine]) -> CppNode:
    if isinstance(node, CppLine):
        return change(node)
    head = change(node.head) if isinstance(node.head, CppLine) else node.head
    return replace(node, head=head, body=with_lines(node.body, change))


def read_lines(lines: Sequence[str]) -> list[CppNode]:
    """The lines of a function as nodes."""
    return _read(lines, 0)[0]


def _read(lines: Sequence[str], at: int) -> tuple[list[CppNode], int]:
    """The nodes from a line on, and the number of the line that closes a brace behind them."""
    nodes: list[CppNode] = []
    while at < len(lines) and not lines[at].lstrip().startswith("}"):
        if not lines[at].endswith("{"):
            nodes.append(read_line(at, lines[at]))
            at += 1
            continue
        body, end = _read(lines, at + 1)
        if lines[end].lstrip() == "}":
            nodes.append(CppBlock(read_line(at, lines[at]), tuple(body)))
        else:  # of an array, or with another branch
            nodes += [_fixed(at, lines[at]), *body]
            while lines[end].endswith("{"):
                body, after = _read(lines, end + 1)
                nodes += [_fixed(end, lines[end]), *body]
                end = after
            nodes.append(_fixed(end, lines[end]))
        at = end + 1
    return nodes, at


def has_effect(line: str, constants: Collection[str] = ()) -> bool:
    """Whether a line calls an instruction, or reads memory, or an array that is not one of these constant ones."""
    return f"{NAMESPACE}::" in line or "__shfl" in line or any(each not in constants for each in _READ.findall(line))


def _fixed(place: int, line: str) -> CppLine:
    return CppLine(place, (line,), is_fixed=True)


def read_line(place: int, line: str) -> CppLine:
    """A line with its numbers."""
    found = _DECLARATION.fullmatch(line.lstrip())
    is_statement = line.endswith((";", "{")) and (found or not _BEGINS_DECLARATION.match(line.lstrip()))
    if not is_statement or line.lstrip().startswith("return"):
        return _fixed(place, line)
    hidden = [range(*each.span()) for each in _OF_TEMPLATE.finditer(line)]
    texts: list[str] = []
    numbers: list[LineNumber] = []
    start = 0
    for end in _ENDS.finditer(line):
        at = end.start()
        if line[at - 1] in "([" or any(at in each for each in hidden):
            continue
        whole, added = _WHOLE.search(line, start, at), _ADDED.search(line, start, at)
        text_end = whole.start() if whole else added.start() if added else at
        is_index = line[text_end - 1] == "["
        numbers.append(LineNumber(int(whole[0]) if whole else int(added[1]) if added else 0, whole is None, is_index))
        texts.append(line[start:text_end])
        start = at
    return CppLine(place, (*texts, line[start:]), tuple(numbers), found[1] or found[2] if found else None)
