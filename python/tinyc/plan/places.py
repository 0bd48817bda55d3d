"""Where each value of a JSON text stands.

In: JSON text, with comments and trailing commas, which need not be valid: what is wrong with it is for
`importers.json_text` to say, except that a key stands twice, which is known here with its place. Out: line and column
by path; an entry of an object is placed at its key, an entry of a list at its value.
"""

import bisect
import json
import re
from dataclasses import dataclass

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.json_text import MAX_DEPTH, TOKEN
from tinyc.plan.kinds import Path, shown_value

Places = dict[Path, tuple[int, int]]


class Lines:
    """Turns positions in a text into lines and columns, both from 1."""

    def __init__(self, text: str) -> None:
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of a position."""
        line = bisect.bisect_right(self.starts, at)
        return line, at - self.starts[line - 1] + 1


@dataclass
class _Open:
    """An open bracket: the path of its value, and the position or the key of the entry that is being read."""

    path: Path
    is_list: bool
    position: int = 0
    key: str | None = None

    def entry(self) -> Path:
        return (*self.path, self.position if self.is_list else self.key or "")


def places_of(text: str, where: Where) -> Places:
    """The place of each value in a JSON text; that of the whole is under the empty path.

    Raises:
        TinycError: `InvalidPlan` for a key that stands twice in one object.
    """
    lines, stack = Lines(text), [_Open((), False, key="")]
    places: Places = {}
    places[()] = lines.place(len(text) - len(text.lstrip()))
    for match in TOKEN.finditer(text):
        token, inner = match.group(), stack[-1]
        if token[0] == "/":
            continue
        if token in "]}":
            stack = stack[:-1] or stack
        elif token == ",":
            inner.position, inner.key = inner.position + 1, None
        elif not inner.is_list and inner.key is None:
            inner.key = _decoded(token)
            if inner.entry() in places:
                line, column = lines.place(match.start())
                message = f"the key {shown_value(inner.key)} stands twice in one object; remove one"
                raise TinycError("InvalidPlan", message, Where(where.node, where.file, line, column))
            places[inner.entry()] = lines.place(match.start())
        else:
            if inner.is_list:
                places.setdefault(inner.entry(), lines.place(match.start()))
            if token in "[{":
                stack.append(_Open(inner.entry() if len(stack) > 1 else (), token == "["))
            if len(stack) > MAX_DEPTH:
                break
    return places


def _decoded(token: str) -> str:
    """The text that a string of JSON means, or the token as it stands where it is not one."""
    try:
        return str(json.loads(token, strict=False))
    except ValueError:
        return token
