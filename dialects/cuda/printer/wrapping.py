"""Long lines of C++ as several: broken behind the `=` of a declaration, or a comma in as few brackets as possible."""

import re
from collections.abc import Iterable, Iterator

WIDTH = 120
_BEHIND = "    "
_PARTS = re.compile(r"\w<[\w, ]*>(?=\()|[(\[{)\]}]|, ")


def wrapped(lines: Iterable[str]) -> list[str]:
    """The lines, none longer than the width where there is a comma to break it behind; comments stay."""
    return [part for line in lines for part in (_parts(line) if len(line) > WIDTH else [line])]


def _parts(line: str) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip())]
    depth = 0
    start, sign, value = line.partition(" = ")
    if sign and WIDTH - len(" =") > len(start) and len(indent) + len(_BEHIND) + len(value) <= WIDTH:
        yield f"{start} ="
        yield f"{indent}{_BEHIND}{value}"
        return
    found = None if line.lstrip().startswith("//") else _break(line)
    while found is not None:
        inside, at = found
        depth += inside
        yield line[:at].rstrip()
        line = f"{indent}{_BEHIND * depth}{line[at:]}"
        found = _break(line) if len(line) > WIDTH else None
    yield line


def _break(line: str) -> tuple[int, int] | None:
    """In how many of a line's brackets to break it, and where: the last comma that fits of those in the fewest.

    Where none fits, that is the first of those in the fewest, unless it would fit behind the first bracket's own line.
    """
    depth = 0
    first = line.find("(") + 1
    indent = len(line) - len(line.lstrip()) + len(_BEHIND)
    found: tuple[int, int] | None = None
    for part in _PARTS.finditer(line):
        depth += part[0] in "([{"
        depth -= part[0] in ")]}"
        fits = part.end() <= WIDTH + 1
        if part[0] == ", " and (found is None or depth < found[0] + fits):
            found = depth, part.end()
        if found is not None and not fits and found[1] <= WIDTH + 1:
            break
    if found is not None and found[1] > WIDTH + 1 >= found[1] - first + indent and first > indent:
        return 1, first
    return found
