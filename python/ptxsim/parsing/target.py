"""What a module is compiled for: a target such as sm_80 or sm_90a, and which code is code for it."""

import re
from dataclasses import dataclass

_PREFIX = "sm_"
_NAME = re.compile(_PREFIX + r"\d{2,3}[af]?")


@dataclass(frozen=True)
class Target:
    """A target such as sm_80 or sm_90a; what only "a" or "f" targets have, no other target has."""

    name: str
    number: int

    @staticmethod
    def names(word: str) -> bool:
        """Whether a word is the name of a target."""
        return _NAME.fullmatch(word) is not None

    @classmethod
    def of(cls, name: str) -> "Target":
        """The target of a name."""
        return cls(name, int(name[len(_PREFIX) :].rstrip("af")))

    def has(self, needed: str) -> bool:
        """Whether code for the target `needed` is code for this one, too."""
        return self.name == needed if needed[-1] in "af" else self.number >= Target.of(needed).number

    def __str__(self) -> str:
        return self.name
