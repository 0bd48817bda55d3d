"""A compiled kernel: a closure for each instruction, and the straight runs of them. Every launch shares it."""

from dataclasses import dataclass, field
from functools import cached_property

from ptxsim.engine.telling_reads import telling_reads
from ptxsim.linking.code import Code
from ptxsim.machine.cta import Step
from ptxsim.machine.site import Site


@dataclass(frozen=True)
class Executable:
    """A kernel as closures: `steps[pc]`, `run_end[pc]` (where the straight run that `pc` is in ends), calls' ends.

    `tracked` are the registers that may hold undefined values, `sites` says what each instruction reads and where it
    leads.
    """

    code: Code
    steps: list[Step]
    run_end: list[int]
    after_return: dict[int, Step]
    tracked: frozenset[int]
    sites: list[Site]
    _runs: dict[int, tuple[tuple[int, Step], ...]] = field(default_factory=dict)

    @cached_property
    def telling(self) -> frozenset[int]:
        """The loads and atomics that tell threads something."""
        return telling_reads(self.sites)

    def run(self, start: int) -> tuple[tuple[int, Step], ...]:
        """The instructions from `start` on that threads execute without looking for others."""
        if start not in self._runs:
            self._runs[start] = tuple((at, self.steps[at]) for at in range(start, self.run_end[start]))
        return self._runs[start]
