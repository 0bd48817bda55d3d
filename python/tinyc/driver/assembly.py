"""Assembly to read: in front of each run of instructions the line of the loops that it comes from.

In: the assembly of a module whose locations are lines of the listing of the loops, by `.loc`, and that listing. Out:
the code and the data that it reads; labels that nothing jumps to and what is for debuggers and unwinders are left out.
"""

import re
from collections.abc import Iterator, Sequence

_LINE = re.compile(r"^\s+\.loc\s+\d+\s+(\d+)\s")
_LABEL = re.compile(r"^([.\w$]+):")
#: Directives that say nothing of what the code does.
_DROPPED = re.compile(r"^\s+\.(loc|cfi_\w+|file|ident|addrsig\w*|section\s+\"?\.(debug|note)|size|type|globl|hidden)\b")
_WORDS = re.compile(r"[.\w$]+")


def beside_loops(assembly: str, loops: str, comment: str) -> str:
    """The assembly, lines of `loops` in comments that begin with `comment`."""
    lines = _kept(assembly.splitlines())
    return "\n".join(_annotated(lines, loops.splitlines(), comment)) + "\n"


def _kept(lines: Sequence[str]) -> list[str]:
    """The lines without labels that no other line names."""
    named = {word for line in lines if not _LABEL.match(line) for word in _WORDS.findall(line)}
    labels = ((line, _LABEL.match(line)) for line in lines)
    return [line for line, label in labels if label is None or not label[1].startswith(".L") or label[1] in named]


def _annotated(lines: Sequence[str], loops: Sequence[str], comment: str) -> Iterator[str]:
    at, shown = 0, 0
    for line in lines:
        place = _LINE.match(line)
        if place is not None:
            at = int(place[1])
        elif _LABEL.match(line):
            shown = 0  # what comes is reached from elsewhere, too
            yield line
        elif not _DROPPED.match(line) and line.strip():
            is_code = not line.lstrip().startswith(".")
            if is_code and at not in (0, shown) and at <= len(loops):
                shown = at
                yield f"\t{comment} {at}: {loops[at - 1].strip()}"
            yield line
