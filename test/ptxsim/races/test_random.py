"""Random kernels of a few warps: what the race detector reports is what an oracle finds in the trace of the same run.

The oracle is a graph: every access, barrier and fence of every lane is an event, edges are those of the PTX ISA, and an
event's predecessors are a bit set. Source: PTX ISA, "Memory Consistency Model".
"""

import random
from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import pytest

import ptxsim
from parameters import seeds
from ptxsim.machine.cta import Cta
from ptxsim.machine.observer import Phase
from ptxsim.races.detector import Races
from ptxsim_cases.kernel_text import kernel

WORDS = 3
#: Guards: all lanes, one, or a half, and the mask of a half.
_GUARDS = ("", "@%p0 ", "@%p1 ", "@%p2 ", "@%p3 ")
_HALVES = {"@%p2 ": "0x0000ffff", "@%p3 ": "0xffff0000"}
_ACCESSES = (
    "ld.shared.u32 %r4, [{}];",
    "ld.shared.u32 %r4, [{}];",
    "st.shared.u32 [{}], %r5;",
    "atom.shared.cta.add.u32 %r4, [{}], 1;",
    "atom.acq_rel.cta.shared.add.u32 %r4, [{}], 1;",
    "red.shared.cta.add.u32 [{}], 1;",
    "st.release.cta.shared.u32 [{}], %r5;",
    "ld.acquire.cta.shared.u32 %r4, [{}];",
    "st.relaxed.cta.shared.u32 [{}], %r5;",
    "ld.relaxed.cta.shared.u32 %r4, [{}];",
)


def program(chance: random.Random, warps: int, telling: bool) -> str:
    """A kernel: each warp has its own code, in stretches between barriers of all, of two or of no warps.

    `telling`: what is read decides a branch, although one that is never taken.
    """
    end = "setp.eq.u32 %p6, %r4, 0xffffffff; @%p6 trap; ret;" if telling else "ret;"
    codes: list[list[str]] = [[] for _ in range(warps)]
    for stretch in range(1, chance.randint(3, 6)):
        for code in codes:
            code += [_operation(chance) for _ in range(chance.randint(0, 3))]
        first, second = chance.sample(range(warps), 2)
        kind = chance.choice(("all", "both", "arrive", "none"))
        for warp, code in enumerate(codes):
            if kind == "all":
                code.append("barrier.sync 0;")
            elif kind != "none" and warp in (first, second):
                word = "arrive" if kind == "arrive" and warp == first else "sync"
                code.append(f"bar.{word} {stretch}, 64;")
    setup = """
    .shared .align 4 .b8 words[64]; mov.u32 %r0, %tid.x; mov.u32 %r1, %laneid; shr.u32 %r2, %r0, 5;
    mov.u32 %r3, words; mul.lo.u32 %r5, %r0, 64; mov.u32 %r4, 0;
    setp.eq.u32 %p0, %r1, 0; setp.eq.u32 %p1, %r1, 31; setp.lt.u32 %p2, %r1, 16; setp.ge.u32 %p3, %r1, 16;
    setp.eq.u32 %p5, %r0, 0;
    """
    setup += "".join(f"@%p5 st.shared.u32 [%r3+{4 * word}], 0;\n" for word in range(WORDS)) + "bar.sync 0;\n"
    setup += "".join(f"setp.eq.u32 %p4, %r2, {warp}; @%p4 bra W{warp};\n" for warp in range(warps))
    return kernel(setup + "".join("\n".join((f"W{warp}:", *code, end, "")) for warp, code in enumerate(codes)), "")


def _operation(chance: random.Random) -> str:
    guard = chance.choice(_GUARDS)
    kind = chance.randrange(10)
    if kind == 0:
        return "bar.warp.sync -1;" if guard not in _HALVES else f"{guard}bar.warp.sync {_HALVES[guard]};"
    if kind == 1:
        return f"{guard}fence.acq_rel.cta;"
    access = chance.choice(_ACCESSES).format(f"%r3+{4 * chance.randrange(WORDS)}")
    if access.startswith("st") and guard not in ("@%p0 ", "@%p1 "):
        guard = chance.choice(("@%p0 ", "@%p1 "))
    return f"add.u32 %r5, %r5, 1;\n{guard}{access}"


@dataclass
class Event:
    """What one lane did; `before` are the numbers of the events that happen before it (a bit set)."""

    thread: int
    line: int
    before: int
    word: int = -1
    writes: bool = False
    strong: bool = False
    #: The numbers of the writes that it observes, where its value decides something (a bit set).
    observed: int = 0


@dataclass
class Oracle:
    """The events of a trace in order; `races` are pairs of numbers, the earlier first."""

    events: list[Event] = field(default_factory=list)
    last: dict[int, int] = field(default_factory=dict)
    races: list[tuple[int, int]] = field(default_factory=list)
    phases: dict[Phase, int] = field(default_factory=lambda: defaultdict(int))
    #: Word → the events that a read of it synchronises with: those of the release sequence that it would observe.
    released: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    #: (Thread, word) → its last release there; thread → its last fence, and what it has seen without acquiring.
    own: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    fences: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    seen: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    #: Word → the writes that a strong read of it would observe.
    chains: dict[int, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, thread: int, line: int, further: int = 0, **more) -> int:
        """Add an event behind the thread's last one and those of `further`; return its number."""
        direct = further | (1 << self.last[thread] if thread in self.last else 0)
        before = direct
        for number in _numbers(direct):
            before |= self.events[number].before
        self.events.append(Event(thread, line, before, **more))
        self.last[thread] = len(self.events) - 1
        return self.last[thread]

    def access(self, thread: int, line: int, word: int, kind: str, order: str, returns: bool, tells: bool) -> None:
        """Add an access: what it acquires and observes, what it races with, what it releases."""
        reads, writes, strong = kind == "load" or returns, kind != "load", order != "weak"
        observed = self.released[word] if reads and strong else 0
        acquires = order in ("acquire", "acq_rel")
        number = self.add(thread, line, observed if acquires else 0, word=word, writes=writes, strong=strong)
        if not acquires:
            self.seen[thread] |= observed
        mine = self.events[number]
        mine.observed = self.chains[word] if strong and tells else 0
        known = mine.before
        for other in _numbers(mine.before):
            known |= self.events[other].observed
        for earlier, other in enumerate(self.events[:number]):
            conflict = other.word == word and other.thread != thread and (writes or other.writes)
            if conflict and not (strong and other.strong) and not known >> earlier & 1:
                self.races.append((earlier, number))
        if writes and strong:
            self.chains[word] = 1 << number | (self.chains[word] if kind == "atomic" else 0)
            if order in ("release", "acq_rel"):
                self.own[thread, word] = 1 << number
            sent = self.own[thread, word] | self.fences[thread]
            self.released[word] = sent | (self.released[word] if kind == "atomic" else 0)
        elif writes:
            self.chains[word] = self.released[word] = 0

    def fence(self, thread: int, line: int) -> None:
        """Add a fence that acquires and releases."""
        self.fences[thread] = 1 << self.add(thread, line, self.seen[thread])

    def meet(self, threads: list[int], line: int) -> None:
        """Add a barrier at which threads of a warp meet."""
        arrivals = sum(1 << self.add(thread, line) for thread in threads)
        for thread in threads:
            self.add(thread, line, arrivals)


def _numbers(bits: int):
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


class Recorder(Races):
    """The detector, which tells an oracle of all that it is told."""

    oracle: Oracle
    tells: bool

    def _line(self, cta: Cta) -> int:
        return self._launch.code.instructions[cta.at].line

    def accessed(self, access, batch, memory, index, usable=None, values=None):
        super().accessed(access, batch, memory, index, usable, values)
        opcode = self._launch.code.instructions[access.number].opcode
        threads = batch.threads[batch.mask]
        for thread, place in zip(threads.tolist(), index.reshape(-1).tolist(), strict=True):
            line = self._line(batch.cta)
            returns = opcode in ("ld", "atom")
            self.oracle.access(thread, line, place, access.kind, access.order, returns, returns and self.tells)

    def arrived(self, cta, phase, lanes, relaxed=False):
        super().arrived(cta, phase, lanes, relaxed)
        for thread in np.flatnonzero(lanes).tolist():
            self.oracle.phases[phase] |= 1 << self.oracle.add(thread, self._line(cta))

    def departed(self, cta, phase, lanes, relaxed=False):
        super().departed(cta, phase, lanes, relaxed)
        for thread in np.flatnonzero(lanes).tolist():
            self.oracle.add(thread, self._line(cta), self.oracle.phases[phase])

    def converged(self, batch, members):
        super().converged(batch, members)
        for threads, lanes in zip(batch.threads, members, strict=True):
            self.oracle.meet(threads[lanes].tolist(), self._line(batch.cta))

    def fenced(self, batch, name):
        super().fenced(batch, name)
        for thread in batch.threads[batch.mask].tolist():
            self.oracle.fence(thread, self._line(batch.cta))


def _is_hidden(oracle: Oracle, earlier: int, later: int) -> bool:
    """Whether the shadow has forgotten an access: its warp did the same with the word after it, elsewhere."""
    old = oracle.events[earlier]
    return any(
        (each.word, each.writes, each.thread // 32) == (old.word, old.writes, old.thread // 32)
        and each.line != old.line
        for each in oracle.events[earlier + 1 : later]
    )


def _outcome(text: str, warps: int, tells: bool, monkeypatch: pytest.MonkeyPatch) -> tuple[set[int], Oracle]:
    oracle = Oracle()
    monkeypatch.setattr("ptxsim.launch.Races", Recorder)
    monkeypatch.setattr(Recorder, "oracle", oracle, raising=False)
    monkeypatch.setattr(Recorder, "tells", tells, raising=False)
    report = ptxsim.load(text).launch("k", grid=(1, 1, 1), block=(32 * warps, 1, 1), args=[])
    assert {finding.kind for finding in report.findings} <= {"race"}, str(report)
    return {finding.line for finding in report.findings if finding.line is not None}, oracle


@seeds(15, 40)
def test_the_detector_and_the_oracle_agree(seed, monkeypatch):
    chance = random.Random(seed)
    for _ in range(5):
        warps, telling = chance.randint(2, 4), chance.random() < 0.5
        text = program(chance, warps, telling)
        reported, oracle = _outcome(text, warps, telling, monkeypatch)
        assert reported <= {oracle.events[later].line for _, later in oracle.races}, text
        if oracle.races:
            first = min(later for _, later in oracle.races)
            partners = [earlier for earlier, later in oracle.races if later == first]
            assert oracle.events[first].line in reported or all(
                _is_hidden(oracle, earlier, first) for earlier in partners
            ), text
