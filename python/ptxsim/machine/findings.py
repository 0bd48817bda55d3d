"""The findings of a launch while it runs: one for each kind, instruction and message, with first threads and a count.

A message that names the line of another access does so where `OTHER_LINES` stands in it: lost barriers in unrolled code
make one finding with several such lines.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from ptxsim.linking.code import Code
from ptxsim.machine.shared_names import SharedNames
from ptxsim.report import ALWAYS, KINDS, Finding, Thread

#: Stands in a message for "line 60", or "lines 60, 64".
OTHER_LINES = "{lines}"
_NAMED_LINES = 8
_NAMED_THREADS = 16


@dataclass
class Findings:
    """Collects what handlers report; kinds that no check in `checks` makes are dropped."""

    code: Code
    block: tuple[int, int, int]
    dynamic_shared_bytes: int
    checks: frozenset[str]
    _found: dict[tuple[str, int, str], Finding] = field(default_factory=dict)
    _lines: dict[tuple[str, int, str], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kinds = {kind for check in self.checks for kind in KINDS.get(check, ())} | set(ALWAYS)
        self._names = SharedNames.of(self.code, self.dynamic_shared_bytes)

    @property
    def found(self) -> list[Finding]:
        """What was found, in the order of the first time."""
        return [replace(each, message=self._message(key)) for key, each in self._found.items()]

    def add(
        self,
        kind: str,
        message: str,
        cta: tuple[int, int, int],
        at: int,
        lanes: np.ndarray,
        address: int | None = None,
        space: str = "shared",
        other_line: int | None = None,
    ) -> None:
        """Record that `lanes: [warps, 32]` of a CTA did wrong at instruction `at`; the rest is as for `Cta.report`.

        `cta` is the place of the CTA in the grid.
        """
        if kind not in self.kinds:
            return
        if kind == "out-of-bounds" and address is not None and space == "shared":
            message += self._names.remedy(address)
        key, count = (kind, at, message), int(lanes.sum())
        lines = self._lines.setdefault(key, [])
        if other_line is not None and other_line not in lines:
            lines.append(other_line)
        known = self._found.get(key)
        if known is not None:
            self._found[key] = replace(known, occurrences=known.occurrences + count)
            return
        instruction = self.code.instructions[at]
        place = str(instruction.source) if instruction.source else None
        threads = tuple(self.thread(cta, number) for number in np.flatnonzero(lanes)[:_NAMED_THREADS].tolist())
        variable = self._names.name(address) if address is not None and space == "shared" else None
        self._found[key] = Finding(kind, message, instruction.line, threads, address, place, count, variable)

    def _message(self, key: tuple[str, int, str]) -> str:
        """The message with the lines of the other accesses, a few at most."""
        lines = sorted(self._lines[key])
        named = ", ".join(map(str, lines[:_NAMED_LINES])) + (" …" if len(lines) > _NAMED_LINES else "")
        return key[2].replace(OTHER_LINES, f"line{'s' * (len(lines) > 1)} {named}")

    def thread(self, cta: tuple[int, int, int], number: int) -> Thread:
        """The thread that is lane number `number` of a CTA, counted over all warps."""
        x, y, _ = self.block
        return Thread(cta, (number % x, number // x % y, number // (x * y)))
