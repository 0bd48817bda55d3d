"""Calls of instructions that go along arrays at regular distances, written as loops.

In: the lines of a function. Out: the same with `#pragma unroll` loops in place of at least three calls that differ in
the numbers of array elements alone, where these go up by the same from each call to the next; then of two such loops.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tinyc.dialects.cuda.printer.instructions import NAMESPACE

_ELEMENT = re.compile(r"(?<=\[)\d+(?=\])")
_CALL = re.compile(rf"( *){NAMESPACE}::\w+\(.*\[\d+\].*\);")
_COUNTERS = "nmuvw"
_FEWEST = 3


@dataclass(frozen=True)
class _Calls:
    """A call with {} for its element numbers, these, and the loops around it: how often, and how far each number goes.

    Loops are the innermost first.
    """

    call: str
    numbers: tuple[int, ...]
    loops: tuple[tuple[int, tuple[int, ...]], ...] = ()


def in_loops(lines: Sequence[str]) -> list[str]:
    """The lines with loops."""
    found: list[str] = []
    run: list[_Calls] = []
    for line in [*lines, ""]:
        if _CALL.fullmatch(line):
            numbers = tuple(int(each) for each in _ELEMENT.findall(line))
            run.append(_Calls(_ELEMENT.sub("{}", line.replace("{", "{{").replace("}", "}}")), numbers))
            continue
        found += [text for calls in _rolled(run) for text in _text(calls)]
        run = []
        found.append(line)
    return found[:-1]


def _rolled(calls: list[_Calls]) -> list[_Calls]:
    """The calls with loops, as long as there are some."""
    result: list[_Calls] = []
    at = 0
    while at < len(calls):
        count = _run_length(calls, at)
        if count >= (2 if calls[at].loops else _FEWEST):
            result.append(replace(calls[at], loops=(*calls[at].loops, (count, _step(calls[at], calls[at + 1])))))
        else:
            count = 1
            result.append(calls[at])
        at += count
    return _rolled(result) if len(result) < len(calls) else result


def _step(call: _Calls, following: _Calls) -> tuple[int, ...]:
    return tuple(after - before for before, after in zip(call.numbers, following.numbers, strict=True))


def _run_length(calls: Sequence[_Calls], first: int) -> int:
    """How many calls from one on a loop would do."""
    start, count = calls[first], 1
    while first + count < len(calls):
        this, before = calls[first + count], calls[first + count - 1]
        if (this.call, this.loops) != (start.call, start.loops):
            break
        step = _step(start, calls[first + 1])
        if min(step) < 0 or _step(before, this) != step:
            break
        count += 1
    return count


def _text(calls: _Calls) -> list[str]:
    """The lines of calls."""
    words = set(re.findall(r"\w+", calls.call))
    counters = [each for each in _COUNTERS if each not in words][: len(calls.loops)]
    terms = [
        _sum(number, [(steps[at], counter) for (_, steps), counter in zip(calls.loops, counters, strict=True)][::-1])
        for at, number in enumerate(calls.numbers)
    ]
    call = calls.call.format(*terms)
    indent = call[: len(call) - len(call.lstrip())]
    before: list[str] = []
    after: list[str] = []
    for (count, _), counter in list(zip(calls.loops, counters, strict=True))[::-1]:
        before += [f"{indent}#pragma unroll", f"{indent}for (int {counter} = 0; {counter} < {count}; ++{counter}) {{"]
        after.insert(0, f"{indent}}}")
        indent += "  "
    return [*before, f"{indent}{call.lstrip()}", *after]


def _sum(number: int, products: Sequence[tuple[int, str]]) -> str:
    terms = [counter if step == 1 else f"{step} * {counter}" for step, counter in products if step]
    return " + ".join([*terms, *([str(number)] if number or not terms else [])])
