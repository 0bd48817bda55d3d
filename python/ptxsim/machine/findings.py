"""The findings of a launch while it runs: one for each kind, instruction and message, with first threads and a count.

A message that names the line of another access does so where `OTHER_LINES` stands in it: lost barriers in unrolled code
make one finding with several such lines.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ptxsim.linking.code import Code
from ptxsim.machine.address_names import AddressNames
from ptxsim.machine.observer import Other
from ptxsim.report import ALWAYS, KINDS, WARNINGS, Counterpart, Finding, Thread

#: Stands in a message for "line 60", or "lines 60, 64".
OTHER_LINES = "{lines}"
_NAMED_LINES = 8
_NAMED_THREADS = 16


@dataclass
class Findings:
    """Collects what handlers report; kinds that no check in `checks` makes are dropped.

    `clusters` are the numbers of those that run, x fastest.
    """

    code: Code
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clusters: Sequence[int]
    names: AddressNames
    checks: frozenset[str]
    _found: dict[tuple[str, int, str], Finding] = field(default_factory=dict)
    _others: dict[tuple[str, int, str], dict[int, Counterpart]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        made = ((*KINDS.get(check, ()), *WARNINGS.get(check, ())) for check in self.checks)
        self.kinds = {*itertools.chain.from_iterable(made), *ALWAYS}

    @property
    def found(self) -> list[Finding]:
        """What was found, in the order of the first time."""
        found = []
        for key, each in self._found.items():
            others = [other for _, other in sorted(self._others[key].items())]
            found.append(replace(each, message=_with_lines(key[2], others), others=tuple(others[:_NAMED_LINES])))
        return found

    def add(
        self,
        kind: str,
        message: str,
        cta: tuple[int, int, int],
        at: int,
        lanes: np.ndarray,
        address: int | None = None,
        space: str = "shared",
        other: Other | None = None,
    ) -> None:
        """Record that `lanes: [warps, 32]` of a CTA did wrong at instruction `at`; the rest is as for `Cta.report`.

        `cta` is the place of the CTA in the grid.
        """
        if kind not in self.kinds:
            return
        if kind == "out-of-bounds" and address is not None and space == "shared":
            message += self.names.remedy(address)
        if kind == "deadlock":
            message += self._absence()
        key, count = (kind, at, message), int(lanes.sum())
        others = self._others.setdefault(key, {})
        if other is not None and self._line(other.at) not in others:
            others[self._line(other.at)] = self._counterpart(other)
        known = self._found.get(key)
        if known is not None:
            self._found[key] = replace(known, occurrences=known.occurrences + count)
            return
        threads = tuple(self.thread(cta, number) for number in np.flatnonzero(lanes)[:_NAMED_THREADS].tolist())
        variable = self.names.name(address, space) if address is not None else None
        self._found[key] = Finding(kind, message, self._line(at), threads, address, self._source(at), count, variable)

    def _absence(self) -> str:
        """What a deadlock may come of where not all clusters of the grid run."""
        run, total = len(self.clusters), math.prod(self.grid) // math.prod(self.cluster)
        return f"; the launch runs {run} of the {total} clusters of its grid" if run < total else ""

    def _line(self, at: int) -> int:
        return self.code.instructions[at].line

    def _source(self, at: int) -> str | None:
        source = self.code.instructions[at].source
        return str(source) if source else None

    def _counterpart(self, other: Other) -> Counterpart:
        return Counterpart(
            self._line(other.at), self._source(other.at), self.thread(self._place(other.cta), other.thread)
        )

    def _place(self, cta: int) -> tuple[int, int, int]:
        """The place in the grid of a CTA of the launch: those of a cluster follow each other, x fastest."""
        which, rank = divmod(cta, math.prod(self.cluster))
        cluster = self.clusters[which]
        place = []
        for extent, size in zip(self.grid, self.cluster, strict=True):
            cluster, outer = divmod(cluster, extent // size)
            rank, inner = divmod(rank, size)
            place.append(outer * size + inner)
        return (place[0], place[1], place[2])

    def thread(self, cta: tuple[int, int, int], number: int) -> Thread:
        """The thread that is lane number `number` of a CTA, counted over all warps."""
        x, y, _ = self.block
        return Thread(cta, (number % x, number // x % y, number // (x * y)))


def _with_lines(message: str, others: Sequence[Counterpart]) -> str:
    """The message with the lines of the other accesses, a few at most."""
    named = ", ".join(str(each.line) for each in others[:_NAMED_LINES]) + (" …" if len(others) > _NAMED_LINES else "")
    return message.replace(OTHER_LINES, f"line{'s' * (len(others) > 1)} {named}")
