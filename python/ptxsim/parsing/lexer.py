"""Splits PTX text into words, numbers, directives, strings and marks, and walks over them.

In: the text of a module. Out: a `Cursor`, from which the parser takes one token after the other. A word carries its
suffixes: `ld.global.v4.f32`, `%tid.x` and `$L__BB0_2` are one token each. Source: PTX ISA §4.1–4.5.
"""

import bisect
import re
from typing import NoReturn

from ptxsim.errors import PtxError

#: The kinds of tokens.
WORD, NUMBER, DIRECTIVE, STRING, MARK, END = range(1, 7)

_TOKEN = re.compile(
    r"""\s*(?:
      ((?:[A-Za-z][\w$]*|[_$%][\w$]+)(?:\.\w+(?:::\w+)*)*)
    | (0[fF][0-9a-fA-F]{8}(?!\w)|0[dD][0-9a-fA-F]{16}(?!\w)|0[xX][0-9a-fA-F]+U?(?!\w)|0[bB][01]+U?(?!\w)
       |[0-9]+(?:\.[0-9]*)?[eE][+-]?[0-9]+(?!\w)|[0-9]+\.[0-9]*(?!\w)|[0-9]+U?(?!\w))
    | (\.\w+(?:::\w+)*)
    | "((?:[^"\\\n]|\\.)*)"
    | (<<|>>|<=|>=|==|!=|&&|\|\||[{}()\[\],;:<>|!@+\-*%&^~=?]|/(?!\*)|_)
    | (\Z)
    )""",
    re.ASCII | re.VERBOSE,
)

#: A comment, or a string, in which no comment starts.
_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/')
_SPACE = re.compile(r"\s+|//[^\n]*|/\*(?s:.*?)\*/")

#: Longer words and numbers than this are not PTX that anyone emits, and could take long to convert.
_LONGEST = 65_536
_LONGEST_NUMBER = 400


def _blank(found: re.Match[str]) -> str:
    """As many blanks as a comment has characters, so that all places stay; a string as it is."""
    return found[0] if found[0][0] == '"' else re.sub(r"[^\n]", " ", found[0])


class Cursor:
    """The tokens of a module and a position among them.

    `kinds` and `texts` are parallel; the last token is `END`, with an empty text. A string's text is without its
    quotes, so compare texts only where a string cannot stand or the kind is known.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts: list[int] = []
        self._lines: list[int] = []
        self.kinds: list[int] = []
        self.texts: list[str] = []
        self.position = 0
        self._split()

    def _split(self) -> None:
        kinds, texts, starts = self.kinds, self.texts, self._starts
        self._lines = [0, *(match.end() for match in re.finditer("\n", self._text))]
        match, end = _TOKEN.match, 0
        source = _COMMENT.sub(_blank, self._text)
        while True:
            found = match(source, end)
            if found is None:
                self._fail_at(end)
            kind = found.lastindex or END
            text = found.group(kind)
            kinds.append(kind)
            texts.append(text)
            starts.append(found.start(kind))
            end = found.end()
            if kind == END:
                return
            if len(text) > (_LONGEST_NUMBER if kind == NUMBER else _LONGEST):
                raise PtxError(f"a token of {len(text)} characters", *self._place(found.start(kind)))

    def _fail_at(self, start: int) -> NoReturn:
        """Raise the error for text from `start` on that is not a token, past the space before it."""
        while found := _SPACE.match(self._text, start):
            start = found.end()
        rest = self._text[start : start + 24]
        if rest.startswith("/*"):
            message = "the comment that starts here has no end"
        elif rest.startswith('"'):
            message = "the string that starts here has no end on its line"
        elif rest[0].isdigit():
            message = f"malformed number '{re.split(r'[^A-Za-z0-9_$.]', rest)[0]}'"
        else:
            message = f"unexpected character {rest[0]!r}"
        raise PtxError(message, *self._place(start))

    def _place(self, start: int) -> tuple[int, int]:
        line = bisect.bisect_right(self._lines, start)
        return line, start - self._lines[line - 1] + 1

    def place(self, position: int | None = None) -> tuple[int, int]:
        """Line and column of the current token, or of the one at `position`."""
        return self._place(self._starts[self.position if position is None else position])

    def error(self, message: str, position: int | None = None) -> PtxError:
        """An error at the current token, or at the one at `position`."""
        return PtxError(message, *self.place(position))

    @property
    def kind(self) -> int:
        """The kind of the current token."""
        return self.kinds[self.position]

    @property
    def text(self) -> str:
        """The text of the current token."""
        return self.texts[self.position]

    def shown(self) -> str:
        """The current token as a message names it."""
        if self.kind == END:
            return "the end of the text"
        return f"'{self.text[:60]}'"

    def accept(self, text: str) -> bool:
        """Go past the current token if it is this word, directive or mark."""
        position = self.position
        if self.texts[position] == text and self.kinds[position] != STRING:
            self.position = position + 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Go past the current token, which must be this one."""
        if not self.accept(text):
            raise self.error(f"expected '{text}', found {self.shown()}")

    def take(self, kind: int, what: str) -> str:
        """The text of the current token, which must be of the kind (`what` in a message), and go past it."""
        position = self.position
        if self.kinds[position] != kind:
            raise self.error(f"expected {what}, found {self.shown()}")
        self.position = position + 1
        return self.texts[position]
