"""The tokens of the DSL, and the cursor that reads the statements which they make.

In: the text of a program. Out: its statements, each a list of tokens that `;` ends, and what `StatementReader` reads
off them; a token that cannot stand where it does raises `Wrong`, which `dsl` turns into an error with its place.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from tinyc.plan.kinds import shown_value

#: The words that begin a statement; they name nothing else, so that a `;` that is missing is found.
STATEMENTS = (
    *("split", "reorder", "fuse", "bind", "pipeline", "cache_read", "vectorize", "unroll"),
    *("predicate_tail", "epilogue", "algo_choice", "set"),
)
_TOKEN = re.compile(
    r"(?P<blank>\s+|\#[^\n]*)"
    r'|(?P<string>"(?:[^"\\]++|\\.)*+"?)'
    r"|(?P<mark>->|[;=\[\]{},])"
    r'|(?P<word>(?:(?!->)[^\s;\#"=\[\]{},])+)',
    re.DOTALL,
)
_COMMENT = re.compile(r'"(?:[^"\\]++|\\.)*+"?|(\#[^\n]*)', re.DOTALL)
_INTEGER = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True)
class Token:
    """A word, a mark or a string in quotes, and where it starts in the text."""

    kind: str
    text: str
    start: int


class Wrong(Exception):
    """A token stands where it cannot."""

    def __init__(self, token: Token, message: str) -> None:
        super().__init__(message)
        self.token, self.message = token, message


def is_name(text: str) -> bool:
    """Whether `text` can stand in a statement as a name."""
    match = _TOKEN.fullmatch(text)
    return match is not None and match.lastgroup == "word" and text not in STATEMENTS


def without_comments(text: str) -> str:
    """`text` with blanks for its comments."""
    return _COMMENT.sub(lambda match: " " * len(match.group()) if match.group(1) else match.group(), text)


def statements(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each statement, and the `;` that ends it."""
    statement: list[Token] = []
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "blank":
            continue
        statement.append(Token(match.lastgroup or "", match.group(), match.start()))
        if match.group() == ";":
            yield statement
            statement = []
    if statement:
        yield [*statement, Token("mark", ";", len(text))]


class StatementReader:
    """Reads the tokens of a statement one after the other."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens, self.position = tokens, 0

    @property
    def next(self) -> Token:
        """The token that is read next; the last one is `;`."""
        return self.tokens[self.position]

    def word(self, what: str, reserved: bool = False) -> Token:
        """The next word; one that begins a statement is not one, where it is not `reserved` for that."""
        if self.next.kind != "word" or (self.next.text in STATEMENTS and not reserved):
            self._expected(what)
        self.position += 1
        return self.tokens[self.position - 1]

    def words(self, what: str) -> list[Token]:
        """The words up to the end of the statement, at least one."""
        words = [self.word(what)]
        while self.next.text != ";":
            words.append(self.word(f"{what} or ';'"))
        return words

    def number(self) -> Any:
        """The next word as an integer, or as it stands where it is not one: `fields` says what belongs there."""
        text = self.word("an integer").text
        return int(text) if _INTEGER.fullmatch(text) else text

    def mark(self, text: str) -> None:
        """Pass a mark, or a name like `stages`."""
        if self.next.text != text:
            self._expected(f"'{text}'")
        self.position += 1

    def option(self, name: str, what: str) -> Token:
        """The word of `name=word`."""
        self.mark(name)
        self.mark("=")
        return self.word(what)

    def rest(self, what: str) -> list[Token]:
        """All tokens up to the end of the statement, at least one."""
        if self.next.text == ";":
            self._expected(what)
        first, self.position = self.position, len(self.tokens) - 1
        return self.tokens[first : self.position]

    def end(self) -> None:
        """Require that nothing is left."""
        if self.next.text != ";":
            self._expected("';'")

    def _expected(self, what: str) -> NoReturn:
        before = f" after {shown_value(self.tokens[self.position - 1].text)}" if self.position else ""
        found = "the statement ends" if self.next.text == ";" else f"there is {shown_value(self.next.text)}"
        missing = "; a ';' is missing before it" if self.position and self.next.text in STATEMENTS else ""
        raise Wrong(self.next, f"expected {what}{before}, and {found}{missing}")
