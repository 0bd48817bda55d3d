"""Findings that a launch is told to ignore: "race" for all of a kind, "race:123" for those at a line of the PTX."""

from collections.abc import Sequence
from dataclasses import dataclass

from ptxsim.errors import InputError, suggest
from ptxsim.report import ALWAYS, KINDS, WARNINGS, Finding


@dataclass(frozen=True)
class Ignored:
    """Kinds with a line, or with None for every line."""

    places: frozenset[tuple[str, int | None]]

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Ignored":
        """The findings that the texts name.

        Raises:
            InputError: a text is no KIND or KIND:LINE.
        """
        if isinstance(texts, str):
            raise InputError(f"ignore is '{texts}'; give a row of names, as in ('{texts}',)")
        return cls(frozenset(_place(str(text)) for text in texts))

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is to be ignored."""
        return not self.places.isdisjoint({(finding.kind, None), (finding.kind, finding.line)})


def _place(text: str) -> tuple[str, int | None]:
    kind, colon, line = text.partition(":")
    known = [*(each for kinds in (*KINDS.values(), *WARNINGS.values()) for each in kinds), *ALWAYS]
    if kind not in known:
        raise InputError(f"there is no kind of finding '{kind}'{suggest(kind, known)}")
    if colon and not (line.isascii() and line.isdigit() and len(line) < 10):
        raise InputError(f"'{text[:60]}' names no line; write {kind}, or {kind}:LINE as in {kind}:123")
    return kind, int(line) if colon else None
