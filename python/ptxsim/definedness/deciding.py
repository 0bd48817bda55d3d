"""Arithmetic in which a defined operand can decide the result, whatever an undefined one is (`and`, `selp`, `setp`).

In: an arithmetic instruction's operands and its function on bits. Out: the flow of undefined values, noted in its
`Site`. All other instructions have an undefined result where an operand is undefined. Source: PTX ISA, the semantics of
each instruction.
"""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.machine.cta import Batch, Read
from ptxsim.machine.flow import DEFINED, Rule, bit_by_bit, every, one_of_two
from ptxsim.machine.site import Site

#: Opcode → how many operands, from the first, are taken bit by bit; the others say how.
_BITWISE = {"and": 2, "or": 2, "lop3": 3, "prmt": 2, "bfi": 2, "bfe": 1, "shl": 1, "shr": 1, "shf": 2}
#: What a comparison is combined with a predicate by → the value of the predicate that decides the result.
_DECIDING = {"and": False, "or": True}
_COMPARISONS = frozenset({"set", "setp"})


def pass_on(site: Site, function: Callable, sources: tuple, reads: list[Read], targets: tuple) -> None:
    """Note what undefined `sources` make undefined; `reads` are their values, `function` the instruction's."""
    opcode = site.instruction.opcode
    if opcode == "xor" and sources[0] == sources[1]:
        site.passes_on(sources, targets, _always)
    elif opcode in ("selp", "slct"):
        site.passes_on(sources, targets, one_of_two(lambda batch: _chooses_first(function, reads[2](batch))))
    elif opcode in _BITWISE:
        site.passes_on(sources, targets[:1], bit_by_bit(lambda *values: function(*values)[0], reads, _BITWISE[opcode]))
        site.passes_on(sources, targets[1:])
    elif opcode in _COMPARISONS and len(sources) == 3 and (deciding := _deciding(site)) is not None:
        site.passes_on(sources, targets, _combined(reads[2], deciding))
    else:
        site.passes_on(sources, targets)


def _always(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
    """That the result is defined, whatever the operands are."""
    return DEFINED


def _chooses_first(function: Callable, choice: np.ndarray) -> np.ndarray:
    """The lanes in which a selection takes its first operand, by giving it two that differ."""
    return function(np.ones_like(choice, np.uint32), np.zeros_like(choice, np.uint32), choice)[0] != 0


def _deciding(site: Site) -> bool | None:
    found = [_DECIDING[word] for word in site.instruction.modifiers if word in _DECIDING]
    return found[0] if found else None


def _combined(predicate: Read, deciding: bool) -> Rule:
    """The rule of a comparison that is combined with a predicate, which may decide alone."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        return states[2] & (every(batch, states[:2]) | (predicate(batch) == deciding))

    return rule
