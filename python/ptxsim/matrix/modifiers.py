"""The modifiers of one matrix instruction, taken by what they mean.

In: the words after the opcode. Out: shape, types and options, each taken once; what is left over is unknown. The
assembler takes the words in nearly any order (`ldmatrix.sync.aligned.x4.m8n8` is common), but types stay in theirs.
"""

import re
from collections.abc import Collection
from typing import NamedTuple, NoReturn

from ptxsim.semantics.operation import UnknownInstruction


class MatrixShape(NamedTuple):
    """The extents of D[m, n] = A[m, k] · B[k, n] + C."""

    m: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}k{self.k}"


class MatrixModifiers:
    """The words of one instruction that nobody has taken yet."""

    def __init__(self, opcode: str, words: tuple[str, ...]) -> None:
        self._text = ".".join((opcode, *words))
        self._left = list(words)

    def require(self, *words: str) -> None:
        """Take words that must be there, once each, in any place."""
        for word in words:
            if not self.has(word):
                self.refuse(f"'.{word}' is mandatory")

    def has(self, word: str) -> bool:
        """Take a word that may be there."""
        if word not in self._left:
            return False
        self._left.remove(word)
        return True

    def ordered(self, words: Collection[str]) -> tuple[str, ...]:
        """Take every word of a set, in the order in which they are written."""
        taken = tuple(word for word in self._left if word in words)
        self._left = [word for word in self._left if word not in words]
        return taken

    def one(self, words: Collection[str], what: str) -> str:
        """Take the one word of a set that must be there."""
        taken = self.ordered(words)
        if len(taken) != 1:
            self.refuse(f"needs one {what}: {', '.join('.' + word for word in words)}")
        return taken[0]

    def shape(self) -> MatrixShape:
        """Take the shape, `.m16n8k16`."""
        for word in self._left:
            if found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", word):
                self._left.remove(word)
                return MatrixShape(*map(int, found.groups()))
        self.refuse("needs a shape such as '.m16n8k16'")

    def finish(self) -> None:
        """Refuse the words that nobody took."""
        if self._left:
            self.refuse(f"'.{self._left[0]}' is unknown here, or not modelled by the simulator")

    def refuse(self, reason: str) -> NoReturn:
        """Raise UnknownInstruction with the whole instruction and the reason."""
        raise UnknownInstruction(f"{self._text}: {reason}")
