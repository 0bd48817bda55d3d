"""The operands of matrix instructions in a batch: the registers of a warp as one array, and what is known of them."""

from collections.abc import Sequence

import numpy as np

from ptxsim.machine.cta import Batch, Read
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
