"""How long a SASS instruction reads its registers: those of one bank come one after the other.

In: a `SassFunction`. Out: cycles of the issue port. The registers of a sub-partition lie in two banks, the even and the
odd ones, each of which gives one operand of a warp in a cycle. An operand that ptxas marks `.reuse` is kept for the
next instruction, which does not read it again at the same place. Source: Huerta et al., MICRO 2025: an FFMA with three
operands in one bank costs two more cycles.
"""

import re
from collections import Counter

from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.pipes import Pipe, pipe_of

_BANKS = 2
_REGISTER = re.compile(r"[-|!~]*R(\d+)(\.reuse)?\b")
#: Their results come after a fixed time, so that all of their operands are read before the next one issues.
_PIPES = frozenset({Pipe.FMA, Pipe.ALU, Pipe.HALF})


def read_cycles(function: SassFunction) -> tuple[int, ...]:
    """The cycles for which each instruction, by index, keeps the issue port while its operands are read: 1 at least."""
    found: list[int] = []
    kept: dict[int, int] = {}
    block = -1
    for each in function.instructions:
        if each.block != block:
            block, kept = each.block, {}
        cycles, kept = _cycles(each, kept) if pipe_of(each) in _PIPES else (1, {})
        found.append(cycles)
    return tuple(found)


def _cycles(each: SassInstruction, kept: dict[int, int]) -> tuple[int, dict[int, int]]:
    """The cycles of one, and what it keeps: place → register."""
    reads: set[int] = set()
    keeps: dict[int, int] = {}
    for place, operand in enumerate(each.operands.split(",")[1:]):
        register = _REGISTER.match(operand.strip())
        if register is None:
            continue
        number = int(register[1])
        if kept.get(place) != number:
            reads.add(number)
        if register[2]:
            keeps[place] = number
    return max(Counter(number % _BANKS for number in reads).values(), default=1), keeps
