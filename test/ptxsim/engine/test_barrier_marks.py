"""Random kernels of conditions, loops, returns and aligned barriers: findings are what an oracle says of the source.

The oracle walks the source once for each thread and notes which barriers, in which rounds of the loops around them, the
thread comes to, and which conditions, rounds and loops it leaves behind. Who has not come to a barrier instance of
another thread, and has left behind what that instance is in, has skipped it; who returns before has not.
"""

import random
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import pytest

from ptxsim_cases.kernel_text import OWN_WORD, kernel, launch

THREADS = 64
#: Conditions on the thread and the innermost round: PTX that sets %p1, and the same in Python.
_CONDITIONS = (
    ("setp.lt.u32 %p1, %r0, 40;", lambda thread, turn: thread < 40),
    ("setp.lt.u32 %p1, %r0, 32;", lambda thread, turn: thread < 32),
    ("and.b32 %r2, %r0, 31; setp.lt.u32 %p1, %r2, 16;", lambda thread, turn: thread % 32 < 16),
    ("add.u32 %r2, %r0, {turn}; and.b32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0;", lambda t, turn: (t + turn) % 2 == 0),
)
_UNIFORM = (
    ("setp.eq.u32 %p1, {turn}, 1;", lambda thread, turn: turn == 1),
    ("setp.lt.u32 %p1, {turn}, 2;", lambda thread, turn: turn < 2),
    ("setp.lt.u32 %p1, %r0, 99;", lambda thread, turn: True),
)


def source(chance: random.Random, depth: int) -> list[tuple]:
    """Statements: ("bar",), ("work",), ("return", condition), ("if", condition, body, other), ("loop", trips, body)."""
    statements = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice(("bar", "bar", "work", "return", "if", "if", "loop") if depth else ("bar", "work"))
        condition = chance.choice(_CONDITIONS if chance.random() < 0.25 else _UNIFORM)
        if kind == "if":
            other = source(chance, depth - 1) if chance.random() < 0.3 else []
            statements.append(("if", condition, source(chance, depth - 1), other))
        elif kind == "loop":
            trips = chance.choice((None, 1, 2, 3, 3))
            statements.append(("loop", trips, source(chance, depth - 1)))
        elif kind == "return":
            statements.append(("return", chance.choice(_CONDITIONS[:3])) if chance.random() < 0.4 else ("work",))
        else:
            statements.append((kind,))
    return statements


@dataclass
class Text:
    """PTX of statements; loops count in %r10 and further on, and take 2 or 3 rounds where `trips` is None."""

    lines: list[str] = field(default_factory=list)
    labels: count = field(default_factory=count)

    def add(self, statements: list[tuple], loops: int = 0) -> str:
        for statement in statements:
            kind, turn, label = statement[0], f"%r{10 + loops}", next(self.labels)
            if kind == "bar":
                self.lines.append("bar.sync 0;")
            elif kind == "work":
                self.lines.append("st.global.u32 [%d0], %r0;")
            elif kind == "return":
                self.lines.append(f"{statement[1][0].format(turn=turn)} @%p1 bra end;")
            elif kind == "if":
                self.lines.append(f"{statement[1][0].format(turn=turn)} @!%p1 bra E{label};")
                self.add(statement[2], loops)
                self.lines.append(f"bra M{label}; E{label}:")
                self.add(statement[3], loops)
                self.lines.append(f"M{label}:")
            else:
                turn, trips = f"%r{11 + loops}", "%r3" if statement[1] is None else statement[1]
                self.lines.append(f"mov.u32 {turn}, 0; L{label}:")
                self.add(statement[2], loops + 1)
                self.lines.append(f"add.u32 {turn}, {turn}, 1; setp.lt.u32 %p1, {turn}, {trips}; @%p1 bra L{label};")
        return "\n".join(self.lines)


@dataclass
class Walk:
    """One thread's way: the barrier instances in order, and what it has left behind; a place is a row of numbers."""

    thread: int
    bars: list[tuple[int, ...]] = field(default_factory=list)
    left: set[tuple[int, ...]] = field(default_factory=set)

    def run(self, statements: list[tuple], place: tuple[int, ...] = (), turn: int = 0) -> bool:
        """Walk statements that are at a place; whether the thread comes to their end."""
        for number, statement in enumerate(statements):
            here = (*place, number)
            if statement[0] == "bar":
                self.bars.append(here)
            elif statement[0] == "return" and statement[1][1](self.thread, turn):
                return False
            elif statement[0] == "if":
                taken = statement[1][1](self.thread, turn)
                if not self.run(statement[2 if taken else 3], (*here, int(taken)), turn):
                    return False
                self.left.add(here)
            elif statement[0] == "loop":
                for step in range((2 + self.thread % 2) if statement[1] is None else statement[1]):
                    if not self.run(statement[2], (*here, step), step):
                        return False
                    self.left.add((*here, step))
                self.left.add(here)
        return True


def diverges(statements: list[tuple]) -> bool:
    """Whether some thread skips an instance of a barrier to which another one comes."""
    walks = [Walk(thread) for thread in range(THREADS)]
    for walk in walks:
        if walk.run(statements):
            walk.left.add(())
    for one in walks:
        for other in walks:
            if any(mine != yours for mine, yours in zip(one.bars, other.bars, strict=False)):
                return True
            for bar in one.bars[len(other.bars) :]:
                if any(bar[:size] in other.left for size in range(len(bar))):
                    return True
    return False


@pytest.mark.parametrize("seed", range(30))
def test_what_is_found_is_what_the_source_says(seed):
    chance = random.Random(seed)
    for _ in range(8):
        statements = source(chance, 3)
        body = "mov.u32 %r10, 0; and.b32 %r3, %r0, 1; add.u32 %r3, %r3, 2;\n" + Text().add(statements)
        text = kernel(OWN_WORD + body + "\nst.global.u32 [%d0], %r0;\nend: ret;")
        report = launch(text, [np.zeros(THREADS, np.uint32)], THREADS)
        assert {each.kind for each in report.findings} <= {"barrier-divergence", "deadlock"}, str(report)
        assert report.ok != diverges(statements), f"{text}\n{report}"
