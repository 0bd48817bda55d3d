"""The findings of a launch while it runs: one for each kind and instruction, with the first threads and a count."""

from dataclasses import dataclass, field

import numpy as np

from tinyc.simulator.engine.cta import Cta
from tinyc.simulator.report import ALWAYS, KINDS, Finding, Thread
from tinyc.simulator.syntax import Instruction

_NAMED_THREADS = 16


@dataclass
class Findings:
    """Collects what handlers report; kinds that no check in `checks` makes are dropped."""

    instructions: tuple[Instruction, ...]
    block: tuple[int, int, int]
    checks: frozenset[str]
    found: dict[tuple[str, int, str], Finding] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.kinds = {kind for check in self.checks for kind in KINDS.get(check, ())} | set(ALWAYS)

    def add(self, kind: str, message: str, cta: Cta, at: int, lanes: np.ndarray, address: int | None = None) -> None:
        """Record that `lanes: [warps, 32]` of a CTA did wrong at instruction `at`."""
        if kind not in self.kinds:
            return
        key, count = (kind, at, message), int(lanes.sum())
        known = self.found.get(key)
        occurrences = count + (known.occurrences if known else 0)
        if known is not None:
            self.found[key] = _counted(known, occurrences)
            return
        instruction = self.instructions[at]
        source = instruction.source
        place = f"{source.file}:{source.line}:{source.column}" if source else None
        threads = tuple(self.thread(cta, number) for number in np.flatnonzero(lanes)[:_NAMED_THREADS].tolist())
        self.found[key] = Finding(kind, message, instruction.line, threads, address, place, occurrences)

    def thread(self, cta: Cta, number: int) -> Thread:
        """Return the thread that is lane number `number` of a CTA, counted over all warps."""
        x, y, _ = self.block
        return Thread(cta.index, (number % x, number // x % y, number // (x * y)))


def _counted(finding: Finding, occurrences: int) -> Finding:
    return Finding(
        finding.kind, finding.message, finding.line, finding.threads, finding.address, finding.source, occurrences
    )
