"""Which registers a SASS instruction reads of each bank.

In: a `SassFunction`. Out: reads by bank. The registers of a sub-partition lie in two banks, the even and the odd ones,
each of which gives one operand of a warp in a cycle. An operand that ptxas marks `.reuse` is kept for the next
instruction, which does not read it again at the same place. Source: Huerta et al., MICRO 2025.
"""

import re

from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.pipes import Pipe, pipe_of

_REGISTER = re.compile(r"[-|!~]*R(\d+)(\.reuse)?\b")
#: Their results come after a fixed time, so that their operands are read at a fixed time, too.
_PIPES = frozenset({Pipe.FMA, Pipe.ALU, Pipe.HALF})


def bank_reads(function: SassFunction) -> tuple[tuple[int, int], ...]:
    """How many even and odd registers each instruction, by index, reads of the banks; of memory instructions none."""
    found: list[tuple[int, int]] = []
    kept: dict[int, int] = {}
    block = -1
    for each in function.instructions:
        if each.block != block:
            block, kept = each.block, {}
        reads, kept = _reads(each, kept) if pipe_of(each) in _PIPES else (set(), {})
        odd = sum(number % 2 for number in reads)
        found.append((len(reads) - odd, odd))
    return tuple(found)


def _reads(each: SassInstruction, kept: dict[int, int]) -> tuple[set[int], dict[int, int]]:
    """The registers that one reads, and what it keeps: place → register."""
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
    return reads, keeps
