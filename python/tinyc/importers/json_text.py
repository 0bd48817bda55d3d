"""Lenient JSON: comments and trailing commas are allowed, duplicate keys are not, and every error has its place.

In: text, bytes, a path, or a Python object. Out: a `Document`, the parsed value with the places of the objects in the
lists and objects at its top level. One linear scan that respects strings blanks comments and trailing commas (so that
lines and columns stay) and bounds the nesting; the standard library reads the rest.
"""

import bisect
import itertools
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tinyc.diagnostics import TinycError, Where

MAX_BYTES = 256 * 2**20
MAX_DEPTH = 64
EXAMPLE = (
    'a program looks like {"uops": [{"id": "x", "uop": "INPUT", "arg": {"tensor_id": "X", "dtype": "fp32", "shape": '
    '["N"]}}, {"id": "y", "uop": "NEG", "src": ["x"]}]}'
)

#: A string (perhaps unterminated), a comment, a bracket, a comma, or a word: `:` stands alone or before a word.
TOKEN = re.compile(
    r'"(?:[^"\\]++|\\.)*+"?'  # a string, perhaps unterminated
    r"|//[^\n]*+"
    r"|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?"
    r'|[\[\]{},]|[^\s"/,\[\]{}]++|/',
    re.DOTALL,
)
_BLANKS = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class Document:
    """A parsed value; `entries[k]` has the places of the objects in its k-th list or object, in order."""

    value: Any
    filename: str | None = None
    entries: list[list[tuple[int, int]]] = field(default_factory=list)

    def places(self, key: str) -> Iterator[Where]:
        """The places of the objects in the list or the object under a key, then that of the file again and again."""
        holders = [each for each in self.value if isinstance(self.value[each], list | dict)]
        known = self.entries[holders.index(key)] if self.entries and key in holders else []
        yield from (Where(None, self.filename, *position) for position in known)
        yield from itertools.repeat(Where(file=self.filename))


def read(source: Any, filename: str | None = None) -> Document:
    """The document that `source` holds: text, UTF-8 bytes, a `Path`, or the Python form of a JSON value.

    Raises:
        TinycError: `UnreadableFile` for a file that cannot be read, `InvalidJson` with line and column for the rest.
    """
    if isinstance(source, Path):
        source, filename = _file(source), filename or str(source)
    if isinstance(source, bytes | bytearray):
        source = decoded(bytes(source), filename)
    if isinstance(source, str):
        return _Reader(source, filename).document()
    return Document(_normalised(source, filename), filename)


def shown_json(value: Any) -> str:
    """A JSON value for a message, shortened."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"


def _file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise TinycError("UnreadableFile", f"cannot read '{path}': {error}", Where(file=str(path))) from None


def first_character(text: str) -> str:
    """The first character that is neither blank nor in a comment; none in a text without one."""
    blanks = _BLANKS.match(text)
    end = blanks.end() if blanks else 0
    return text[end : end + 1]


def decoded(data: bytes, filename: str | None) -> str:
    """The text of UTF-8 bytes, without a byte order mark.

    Raises:
        TinycError: `InvalidJson`.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _invalid(
            f"not UTF-8 text: byte {error.start} is 0x{data[error.start]:02x}", Where(file=filename)
        ) from None


def _normalised(value: Any, filename: str | None) -> Any:
    """A Python object as JSON would give it back: what has no JSON form is refused here."""
    try:
        text = json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise _invalid(f"the source is not a JSON value: {error}", Where(file=filename)) from None
    return _Reader(text, filename).document().value


def _invalid(message: str, where: Where) -> TinycError:
    return TinycError("InvalidJson", message, where)


class _Reader:
    """The scan of one text. `stack` holds the open brackets, `comma` the place of a comma that may prove trailing."""

    def __init__(self, text: str, filename: str | None) -> None:
        self.text, self.filename = text, filename
        self.stack: list[str] = []
        self.comma, self.after_value = -1, False
        self.blanks: list[tuple[int, int]] = []
        self.entries: list[list[int]] = []
        self.lines: list[int] | None = None

    def document(self) -> Document:
        if len(self.text) > MAX_BYTES:
            raise _invalid(f"the text is larger than {MAX_BYTES} bytes", Where(file=self.filename))
        for match in TOKEN.finditer(self.text):
            self._token(match.group(), match.start())
        value = self._parsed()
        return Document(value, self.filename, [[self._position(at) for at in array] for array in self.entries])

    def _token(self, token: str, at: int) -> None:
        first = token[0]
        if first == "/" and len(token) > 1:
            self._comment(token, at)
        elif first == ",":
            self.comma, self.after_value = (at if self.after_value else -1), False
        elif first in "[{":
            self._open(first, at)
            self.comma, self.after_value = -1, False
        else:
            if first in "]}":
                if self.comma >= 0:
                    self.blanks.append((self.comma, self.comma + 1))
                if self.stack:
                    self.stack.pop()
            self.comma, self.after_value = -1, not token.endswith(":")

    def _comment(self, token: str, at: int) -> None:
        if token[1] == "*" and (len(token) < 4 or not token.endswith("*/")):
            raise _invalid("the comment is not closed; add '*/'", self._where(at))
        self.blanks.append((at, at + len(token)))

    def _open(self, bracket: str, at: int) -> None:
        if self.stack == ["{"]:
            self.entries.append([])
        elif len(self.stack) == 2 and self.stack[0] == bracket == "{":
            self.entries[-1].append(at)
        self.stack.append(bracket)
        if len(self.stack) > MAX_DEPTH:
            raise _invalid(f"more than {MAX_DEPTH} nested brackets", self._where(at))

    def _parsed(self) -> Any:
        text = self._blanked()
        if not text.strip():
            raise _invalid(f"the text is empty; {EXAMPLE}", self._where(0))
        try:
            value = json.loads(text, object_pairs_hook=self._object, parse_float=self._number)
            if _SURROGATE.search(text) or not text.isascii():
                json.dumps(value, ensure_ascii=False).encode()  # half of a surrogate pair is not text
        except json.JSONDecodeError as error:
            raise _invalid(error.msg, Where(None, self.filename, error.lineno, error.colno)) from None
        except UnicodeEncodeError:
            raise _invalid("a string holds half of a surrogate pair", Where(file=self.filename)) from None
        except ValueError:
            raise _invalid("a number has too many digits", Where(file=self.filename)) from None
        return value

    def _blanked(self) -> str:
        if not self.blanks:
            return self.text
        parts, end = [], 0
        for start, stop in sorted(self.blanks):
            parts += [self.text[end:start], re.sub(r"[^\n]", " ", self.text[start:stop])]
            end = stop
        return "".join([*parts, self.text[end:]])

    def _number(self, text: str) -> float:
        """A number with a fraction or an exponent; one beyond fp64 would silently read as infinity."""
        number = float(text)
        if math.isinf(number):
            shown = text if len(text) <= 60 else text[:59] + "…"
            tokens = ((token.group(), token.end()) for token in TOKEN.finditer(self.text))
            end = next(end for token, end in tokens if token.lstrip(":") == text)  # and not where a string has it
            message = f"the number {shown} is beyond fp64; write a smaller one, or Infinity"
            raise _invalid(message, self._where(end - len(text)))
        return number

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        seen: set[str] = set()
        key = next(key for key, _ in pairs if key in seen or seen.add(key))
        node = value.get("id", value.get("out"))
        raise TinycError(
            "InvalidJson",
            f"the key {key!r} stands twice in one object; remove one",
            Where(node if isinstance(node, str) else None, self.filename),
        )

    def _position(self, at: int) -> tuple[int, int]:
        if self.lines is None:
            self.lines = [0, *(match.end() for match in re.finditer("\n", self.text))]
        line = bisect.bisect_right(self.lines, at)
        return line, at - self.lines[line - 1] + 1

    def _where(self, at: int) -> Where:
        return Where(None, self.filename, *self._position(at))
