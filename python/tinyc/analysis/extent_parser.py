"""Reads the text of an extent: ``G*Cin``, ``(H - 1) floordiv 2 + 1``. `extents.parse` is the way in."""

import re

from tinyc.analysis.extents import MAX_COEFFICIENT, Dim, ExtentError, floordiv, symbol

_MAX_NESTING = 32
_TOKEN = re.compile(r"\s*(?:(\d+)|([^\W\d][\w.]*)|(//|[-+*()]))")


class Parser:
    """Recursive descent over `_TOKEN`; ``*`` and ``floordiv`` bind alike, left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.tokens, self.depth = text, [], 0
        position = 0
        while text[position:].strip():
            match = _TOKEN.match(text, position)
            if match is None:
                rest = text[position:].strip()
                raise ExtentError(f"cannot read the extent {text!r}: unexpected {rest[0]!r}")
            self.tokens.append(match.group().strip())
            position = match.end()

    def extent(self) -> Dim:
        """Return the extent that the whole text is."""
        value = self._sum()
        if self.tokens:
            raise self._unexpected()
        return value

    def _unexpected(self) -> ExtentError:
        found = repr(self.tokens[0]) if self.tokens else "the end"
        return ExtentError(f"cannot read the extent {self.text!r}: unexpected {found}")

    def _accept(self, *tokens: str) -> str | None:
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in tokens else None

    def _sum(self) -> Dim:
        value = self._product()
        while operator := self._accept("+", "-"):
            operand = self._product()
            value = value + operand if operator == "+" else value - operand
        return value

    def _product(self) -> Dim:
        value = self._factor()
        while operator := self._accept("*", "floordiv", "//"):
            operand = self._factor()
            value = self._bounded(value * operand if operator == "*" else floordiv(value, operand))
        return value

    def _bounded(self, value: Dim) -> Dim:
        """Check a number, as extents themselves are, before it outgrows what can be printed."""
        if isinstance(value, int) and abs(value) > MAX_COEFFICIENT:
            raise ExtentError(f"the extent {self.text[:40]!r}… has a number beyond 2^128")
        return value

    def _factor(self) -> Dim:
        sign = 1
        while self._accept("-"):
            sign = -sign
        return self._primary() * sign

    def _primary(self) -> Dim:
        if self._accept("("):
            self.depth += 1
            if self.depth > _MAX_NESTING:
                raise ExtentError(f"the extent {self.text[:40]!r}… nests more than {_MAX_NESTING} brackets")
            value = self._sum()
            self.depth -= 1
            if not self._accept(")"):
                raise self._unexpected()
            return value
        if not self.tokens or self.tokens[0] in ("+", "*", "//", ")", "floordiv"):
            raise self._unexpected()
        token = self.tokens.pop(0)
        if not token[0].isdigit():
            return symbol(token)
        # Python refuses to read thousands of digits.
        return self._bounded(int(token) if len(token) < 100 else MAX_COEFFICIENT + 1)
