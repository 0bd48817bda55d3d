"""`--verify-diagnostics`: what a test file says it expects, against what was reported; as in `mlir-opt`.

An expectation is a comment: `expected-error {{text}}`, likewise `-warning`, `-remark`, `-note`, for its own line or,
with `@+2`, `@-1`, `@above`, `@below` or `@unknown` before the braces, for another place. The message must contain the
text; after `expected-error-re`, what stands in inner `{{…}}` is a regular expression.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tinyc.diagnostics import Where
from tinyc.text import Diagnostic

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<re>-re)?"
    r"\s*(?:@(?P<at>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}"
)
_INNER = re.compile(r"\{\{(.*?)\}\}")
#: MLIR attaches this note to every verifier error; a test is about the error.
_CURRENT_OP = "see current operation"


@dataclass(frozen=True)
class Expectation:
    """One diagnostic that must come: at `line`, or without a place where `line` is None; `written` is its own line."""

    severity: str
    pattern: re.Pattern[str]
    text: str
    line: int | None
    written: int

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether `diagnostic` is what this stands for, whatever its severity."""
        return diagnostic.where.line == self.line and self.pattern.search(diagnostic.message) is not None


def read_expectations(text: str, filename: str) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations in `text`, and errors about those that cannot be read."""
    expectations: list[Expectation] = []
    errors: list[Diagnostic] = []
    lines = text.split("\n")
    designates = [_EXPECTED.search(line) is not None for line in lines]
    for number, line in enumerate(lines, start=1):
        match = _EXPECTED.search(line)
        if match is None:
            continue
        try:
            pattern = _pattern(match["text"], match["re"] is not None)
        except re.error as error:
            place = Where(file=filename, line=number, column=match.start() + 1)
            errors.append(Diagnostic("error", place, f"invalid regular expression: {error}"))
            continue
        target = _target(match["at"], number, designates)
        expectations.append(Expectation(match["severity"], pattern, match["text"], target, number))
    return expectations, errors


def _pattern(text: str, is_regex: bool) -> re.Pattern[str]:
    if not is_regex:
        return re.compile(re.escape(text))
    pieces = _INNER.split(text)  # literal, expression, literal, …
    return re.compile("".join(piece if i % 2 else re.escape(piece) for i, piece in enumerate(pieces)))


def _target(at: str | None, number: int, designates: list[bool]) -> int | None:
    """The line that an expectation on line `number` is about."""
    if at is None:
        return number
    if at == "unknown":
        return None
    if at not in ("above", "below"):
        return number + int(at)
    # Several expectations may stand in a row; all are about the nearest line that is not one.
    step = -1 if at == "above" else 1
    line = number + step
    while 1 <= line <= len(designates) and designates[line - 1]:
        line += step
    return line


def unmet_expectations(
    text: str, filename: str, reported: Iterable[Diagnostic], optional: Iterable[Diagnostic]
) -> list[Diagnostic]:
    """An error for each expectation that nothing met, and for each report that nobody expected.

    `optional` are reports (tinyc's remarks) that may be expected and need not be.
    """
    expectations, errors = read_expectations(text, filename)
    pending = list(expectations)
    for diagnostic, required in _flat(reported, optional):
        met = next((e for e in pending if e.severity == diagnostic.severity and e.matches(diagnostic)), None)
        if met is not None:
            pending.remove(met)
        elif required:
            errors.append(_unexpected(diagnostic, pending))
    errors += [_missing(expectation, filename) for expectation in pending]
    return errors


def _flat(reported: Iterable[Diagnostic], optional: Iterable[Diagnostic]) -> Iterator[tuple[Diagnostic, bool]]:
    for diagnostic in reported:
        yield diagnostic, True
        for note in diagnostic.notes:
            yield note, not note.message.startswith(_CURRENT_OP)
    for diagnostic in optional:
        yield diagnostic, False


def _unexpected(diagnostic: Diagnostic, pending: list[Expectation]) -> Diagnostic:
    near = next((e for e in pending if e.matches(diagnostic)), None)
    if near is not None:
        message = f"'{diagnostic.severity}' diagnostic emitted when expecting a '{near.severity}'"
    else:
        message = f"unexpected {diagnostic.severity}: {diagnostic.message}"
    return Diagnostic("error", diagnostic.where, message)


def _missing(expectation: Expectation, filename: str) -> Diagnostic:
    message = f'expected {expectation.severity} "{expectation.text}" was not produced'
    return Diagnostic("error", Where(file=filename, line=expectation.written, column=1), message)
