"""Reads expressions: sums of products of numbers, names and brackets. A subclass says what its operators build.

``+`` and ``-`` bind least, then ``*`` and the divisions, all alike and from left to right, then signs, then brackets.
"""

import re
from typing import Generic, TypeVar

_T = TypeVar("_T")


class Grammar(Generic[_T]):
    """Recursive descent over the tokens of one text."""

    TOKEN: re.Pattern[str]
    #: What binds like a product.
    OPERATORS: tuple[str, ...] = ("*",)
    MAX_NESTING: int
    #: How many characters a message shows of what is not a token.
    SHOWN = 20

    def __init__(self, text: str) -> None:
        self.source, self._next, self._depth = text, 0, 0
        self.tokens: list[str] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = self.TOKEN.match(text, position)
            if match is None:
                raise self.error(f"unexpected {text[position:].strip()[: self.SHOWN]!r}")
            self.tokens.append(match.group().strip())
            position = match.end()

    # --- what a subclass says -----------------------------------------------------------------------------------------

    def error(self, why: str) -> Exception:
        """The error that the text cannot be read."""
        raise NotImplementedError

    def missing(self, token: str) -> Exception:
        """The error that there is another token, or none, where `token` must stand."""
        return self.error(f"{token!r} is missing" + (f" before {self.token!r}" if self.token else ""))

    def too_deep(self) -> Exception:
        """The error that there are too many brackets inside each other."""
        return self.error(f"more than {self.MAX_NESTING} nested brackets")

    def number(self, digits: str) -> _T:
        """The value of a number."""
        raise NotImplementedError

    def leaf(self) -> _T:
        """Read a name, or whatever else is neither a number nor a bracket."""
        raise NotImplementedError

    def combined(self, operator: str, left: _T, right: _T) -> _T:
        """The value of a sum, a difference, a product or a division."""
        raise NotImplementedError

    # --- tokens -------------------------------------------------------------------------------------------------------

    @property
    def token(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self._next] if self._next < len(self.tokens) else ""

    def take(self) -> str:
        """Go past a token and return it."""
        token = self.token
        self._next += 1
        return token

    def accept(self, *tokens: str) -> str:
        """Go past the next token if it is one of these, and return it; otherwise return nothing."""
        return self.take() if self.token in tokens else ""

    def expect(self, token: str) -> None:
        """Go past a token, which must be the next one."""
        if not self.accept(token):
            raise self.missing(token)

    # --- expressions --------------------------------------------------------------------------------------------------

    def sum(self) -> _T:
        """Read a sum."""
        value = self._product()
        while operator := self.accept("+", "-"):
            value = self.combined(operator, value, self._product())
        return value

    def _product(self) -> _T:
        value = self._factor()
        while operator := self.accept(*self.OPERATORS):
            value = self.combined(operator, value, self._factor())
        return value

    def _factor(self) -> _T:
        negative = False
        while self.accept("-"):
            negative = not negative
        if self.accept("("):
            value = self.inner()
            self.expect(")")
        else:
            value = self.number(self.take()) if self.token[:1].isdigit() else self.leaf()
        return self.combined("-", self.number("0"), value) if negative else value

    def inner(self) -> _T:
        """Read a sum that stands inside something."""
        self._depth += 1
        if self._depth > self.MAX_NESTING:
            raise self.too_deep()
        value = self.sum()
        self._depth -= 1
        return value
