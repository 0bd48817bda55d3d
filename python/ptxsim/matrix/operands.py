"""What matrix instructions have in common in a batch: registers as one array, and warps that act as a whole."""

from collections.abc import Callable, Sequence

import numpy as np

from ptxsim.machine.convergence import converge
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.site import Site
from ptxsim.memory.byte_array import WORDS
from ptxsim.parsing.syntax import Operand, Vector


def registers_of(site: Site, operand: Operand, count: int) -> tuple[Operand, ...]:
    """The `count` registers of an operand: a vector of them, or the one itself."""
    found = operand.items if isinstance(operand, Vector) else (operand,)
    if len(found) != count:
        site.fail(f"'{site.instruction.opcode}' takes {count} registers here, not {len(found)}")
    return found


def stacked(batch: Batch, reads: Sequence[Read], bits: int) -> np.ndarray:
    """The values of some registers: [n, 32, registers]."""
    values = np.empty((*batch.mask.shape, len(reads)), WORDS[bits // 8])
    for number, read in enumerate(reads):
        values[..., number] = read(batch)
    return values


def of_lanes(batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
    """The states of some registers: [n, 32, registers] bool."""
    return np.stack([np.broadcast_to(state, batch.mask.shape) for state in states], axis=-1)


def as_bits(known: np.ndarray, bits: int) -> np.ndarray:
    """Words of `bits` that are zero where they are known, and all ones elsewhere: what data is made of shows in it."""
    word = WORDS[bits // 8].type
    return np.where(known, word(0), ~word(0))


def by_whole_warps(site: Site, act: Callable[[Batch], None]) -> Step:
    """The step that lets the lanes of each warp converge, and then acts."""

    def act_on_whole_warps(batch: Batch) -> None:
        if not batch.dense:
            short = batch.mask & ~batch.mask.all(axis=1, keepdims=True)
            batch.report("barrier-divergence", "executed by a warp with lanes that have exited or never were", short)
        act(batch)

    return converge(site, act_on_whole_warps)
