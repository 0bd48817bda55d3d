"""How values of registers that nobody has written spread: what an instruction passes on to which of its results.

In: operands of an instruction. Out: a `Flow` for each result, whose rule says in which lanes the result is defined. An
undefined value may be copied, computed with and exchanged; what it must not decide is in `Site.roles`. The rules are
those of a checker of undefined values: a result is defined where no value of the undefined operands would change it, as
far as one look at whole registers tells.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np

from ptxsim.machine.cta import Batch
from ptxsim.parsing.syntax import Negated, Slot

#: Which lanes of each operand are defined → which lanes of the result are: arrays of [n, 32] bool, or broadcastable.
Rule: TypeAlias = Callable[[Batch, Sequence[np.ndarray]], np.ndarray]
Values: TypeAlias = Sequence[Callable[[Batch], np.ndarray]]

#: The state of what no register holds.
DEFINED = np.ones((1, 1), bool)


def every(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
    """The lanes in which all operands are defined."""
    result = DEFINED
    for state in states:
        result = result & state
    return result


@dataclass(frozen=True)
class Flow:
    """Undefined values of `sources` may reach `targets`; operands that are not registers are defined.

    A source may be the name of a state space, whose bytes may be undefined: its state is always `DEFINED`, and the rule
    looks at the bytes. All targets are defined in the lanes that `rule` gives.
    """

    sources: tuple[object, ...]
    targets: tuple[object, ...]
    rule: Rule = every


def slot_of(operand: object) -> int | None:
    """The number of the register that an operand names, None where it is not a register."""
    if isinstance(operand, Negated):
        operand = operand.register
    return operand.index if isinstance(operand, Slot) else None


def one_of_two(choose: Callable[[Batch], np.ndarray]) -> Rule:
    """The rule of a selection: operands are a, b and the choice; `choose` gives where it is a."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        first, second, choice = states
        return choice & np.where(choose(batch), first, second)

    return rule


def bit_by_bit(function: Callable[..., np.ndarray], values: Values, replaced: int) -> Rule:
    """The rule of a function each of whose result's bits is decided by the bits at some places of its operands.

    The first `replaced` operands are those whose bits are taken; the others say which. Where only operands of the first
    kind are undefined, the result is defined if all zeros and all ones in their place give the same.
    """

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        known = every(batch, states)
        if (known | ~batch.mask).all():
            return known
        operands = [read(batch) for read in values]
        choices = [_replacements(*each) for each in zip(operands[:replaced], states[:replaced], strict=True)]
        first, *others = (function(*chosen, *operands[replaced:]) for chosen in product(*choices))
        same = np.ones_like(first, bool)
        for other in others:
            same &= first == other
        return every(batch, states[replaced:]) & same

    return rule


def _replacements(values: np.ndarray, state: np.ndarray) -> list[np.ndarray]:
    if state.all():
        return [values]
    zeros = values.dtype.type(0)
    return [np.where(state, values, zeros), np.where(state, values, ~zeros)]


def taken(values: np.ndarray, lane: np.ndarray) -> np.ndarray:
    """The value that each lane gets from `values: [n, 32]` of the lane that `lane: [n, 32]`, or [1, 32], names."""
    return values.take(lane[0], axis=1) if len(lane) == 1 else np.take_along_axis(values, lane, axis=1)


def from_lane(lane: Callable[[Batch], np.ndarray]) -> Rule:
    """The rule of an exchange: the first operand is that of the lane which `lane` gives, as for `taken`."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        there = np.broadcast_to(states[0], batch.mask.shape)
        return every(batch, states[1:]) & taken(there, lane(batch))

    return rule


def whole_warp(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
    """The warps in which all operands of all participating lanes are defined: [n, 1]."""
    return np.logical_and.reduce(every(batch, states) | ~batch.mask, axis=1, keepdims=True)


def vote_of(read: Callable[[Batch], np.ndarray], deciding: bool) -> Rule:
    """The rule of a vote that one defined lane with the value `deciding` decides."""

    def rule(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        deciders = states[0] & batch.mask & (read(batch) == deciding)
        decided = np.logical_or.reduce(deciders, axis=1, keepdims=True)
        return decided | whole_warp(batch, states)

    return rule
