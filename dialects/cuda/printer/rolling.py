"""Statements that stand several times below each other, written as loops.

In: the lines of a function. Out: the same with `#pragma unroll` loops in place of statements that differ in numbers
alone, where these go up by the same from each time to the next, and in the names that they declare for themselves.
"""

import itertools
import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from tinyc.dialects.cuda.printer.families import in_arrays, never_in_loops
from tinyc.dialects.cuda.printer.lines import CppBlock, CppLine, CppNode, lines_in, read_lines, with_lines

_COUNTERS = "nmuvw"
#: How often statements stand there at least, or how many lines a loop spares.
_FEWEST, _SPARED = 3, 4
#: How many statements a loop has at most.
_MOST = 96
_INDENT = "  "
#: A name that is multiplied or divided at the start of an index, an argument or a term, bare and in brackets.
_FACTOR = re.compile(r"(?:(?<=[(\[])|(?<=[,=+] ))[A-Za-z_]\w*(?= [*/] )")
_IN_BRACKETS = re.compile(r"(?:(?<=[(\[])|(?<=[,=+] ))\(([A-Za-z_]\w*)\)(?= [*/] )")
_WORD = re.compile(r"[A-Za-z_]\w*")


def in_loops(lines: Sequence[str]) -> list[str]:
    """The lines with loops."""
    given = [_FACTOR.sub(r"(\g<0>)", line) for line in lines]
    apart: set[str] = set()
    while True:
        separate, arrays = in_arrays(given, apart)
        found = _rolled(separate)
        useless = never_in_loops(found, arrays)
        if not useless:
            return found
        apart |= useless


def _rolled(lines: Sequence[str]) -> list[str]:
    rolling = _Rolling(lines)
    found = [text for node in rolling.rolled(read_lines(lines)) for text in _texts(node, (), "")]
    return [_IN_BRACKETS.sub(r"\1", line) for line in found]


class _Rolling:
    """Puts the statements of one function into loops."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._words = [set(_WORD.findall(line)) for line in lines]
        self._depths = [len(line) - len(line.lstrip()) for line in lines]

    def rolled(self, nodes: Sequence[CppNode]) -> list[CppNode]:
        """Statements with loops around those that stand several times; then those in the loops, and in braces."""
        found: list[CppNode] = []
        rest = list(nodes)
        while rest:
            length, count = self._best(rest)
            first = rest[:length]
            if count > 1:
                steps = iter(_steps(first, rest[length : 2 * length]))
                body = with_lines(first, lambda line, steps=steps: _stepping(line, steps))
                found.append(CppBlock(count, tuple(self.rolled(body))))
            else:
                found += [each if isinstance(each, CppLine) else self._inside(each) for each in first]
            del rest[: length * count]
        return found

    def _inside(self, block: CppBlock) -> CppBlock:
        return replace(block, body=tuple(self.rolled(block.body)))

    def _best(self, nodes: Sequence[CppNode]) -> tuple[int, int]:
        """The loop around the next statements that spares the most lines: its statements, and how often."""
        alike = [each.alike for each in nodes[: 2 * _MOST]]
        most, best = 0, (1, 1)
        for length in range(1, len(alike) // 2 + 1):
            if alike[length - 1] is None:
                break
            if alike[:length] != alike[length : 2 * length]:
                continue
            count = self._count(nodes, length)
            spared = (count - 1) * len(list(lines_in(nodes[:length])))
            if spared > most and (count >= _FEWEST or spared >= _SPARED):
                most, best = spared, (length, count)
        return best

    def _count(self, nodes: Sequence[CppNode], length: int) -> int:
        """How often the next statements stand there alike."""
        groups = [nodes[start : start + length] for start in range(0, len(nodes) - length + 1, length)]
        shape, steps, count = self._shape(groups[0]), None, 1
        if shape is None:
            return 1
        for before, this in itertools.pairwise(groups):
            if self._shape(this) != shape:
                break
            step = _steps(before, this)
            if min(step, default=0) < 0 or step != (steps or step):
                break
            steps = step
            count += 1
        return 1 if count == 2 and _is_by_chance(groups[0], steps or []) else count

    def _shape(self, nodes: Sequence[CppNode]) -> Hashable:
        """What is the same each time: all but the numbers and the names that are declared; None if others use these."""
        lines = list(lines_in(nodes))
        declared = {line.declared: f"{number} declared" for number, line in enumerate(lines) if line.declared}
        if any(line.declared and self._last_use(line) > lines[-1].place for line in lines):
            return None
        texts = [_WORD.sub(lambda word: declared.get(word[0], word[0]), "\n".join(line.texts)) for line in lines]
        return tuple(texts), tuple(_kinds(line) for line in lines)

    def _last_use(self, line: CppLine) -> int:
        """The last line that has the name that a line declares, before the block ends."""
        last = line.place
        for place in range(line.place + 1, len(self._words)):
            if self._depths[place] < self._depths[line.place]:
                break
            if line.declared in self._words[place]:
                last = place
        return last


def _kinds(line: CppLine) -> Hashable:
    """What of a line's numbers is the same each time."""
    return tuple((each.is_added, each.steps) for each in line.numbers)


def _steps(nodes: Sequence[CppNode], following: Sequence[CppNode]) -> list[int]:
    """How far each number goes from some statements to those alike behind them."""
    before, after = ([n.first for line in lines_in(each) for n in line.numbers] for each in (nodes, following))
    return [b - a for a, b in zip(before, after, strict=True)]


def _is_by_chance(nodes: Sequence[CppNode], steps: Sequence[int]) -> bool:
    """Whether a number goes up from some statements to those behind them which is neither an index nor added."""
    numbers = (number for line in lines_in(nodes) for number in line.numbers)
    return any(step and not (each.is_added or each.is_index) for each, step in zip(numbers, steps, strict=True))


def _stepping(line: CppLine, steps: Iterator[int]) -> CppLine:
    """A line in one more loop."""
    numbers = tuple(replace(each, steps=(*each.steps, next(steps))) for each in line.numbers)
    return replace(line, numbers=numbers)


def _texts(node: CppNode, counters: tuple[str, ...], indent: str) -> Iterator[str]:
    """Yield the lines of a node in loops with these counters, indented so far more than they were."""
    if isinstance(node, CppLine):
        yield f"{indent}{node.text(counters)}"
    elif isinstance(node.head, CppLine):
        head = node.head.text(counters)
        yield f"{indent}{head}"
        yield from (text for each in node.body for text in _texts(each, counters, indent))
        yield f"{indent}{_indent(head)}}}"
    else:
        counter = _counter(node)
        outer = f"{indent}{_indent(next(lines_in(node.body)).texts[0])}"
        yield f"{outer}#pragma unroll"
        yield f"{outer}for (int {counter} = 0; {counter} < {node.head}; ++{counter}) {{"
        yield from (text for each in node.body for text in _texts(each, (*counters, counter), f"{indent}{_INDENT}"))
        yield f"{outer}}}"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _counter(loop: CppBlock) -> str:
    """What counts a loop: not what those in it have, nor a name in it."""
    words = {word for line in lines_in(loop.body) for text in line.texts for word in _WORD.findall(text)}
    free = (each for each in itertools.chain(_COUNTERS, map("n{}".format, itertools.count())) if each not in words)
    return next(itertools.islice(free, _height(loop) - 1, None))


def _height(node: CppNode) -> int:
    """How many of the loops around statements are in each other."""
    if isinstance(node, CppLine):
        return 0
    return max(map(_height, node.body), default=0) + isinstance(node.head, int)
