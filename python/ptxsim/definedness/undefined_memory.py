"""Bytes of shared and local memory that hold undefined values: a register that nobody had written was stored there.

They are marked in the shadow of the memory, beside being initialised; a store of a defined value takes the mark away.
What goes to global memory must be defined, for it outlives the CTA.
"""

import numpy as np

from ptxsim.machine.access import Access
from ptxsim.machine.cta import Batch
from ptxsim.memory.byte_array import ALLOCATED, INITIALIZED, READY, UNDEFINED

#: The spaces of memory that an access in each space may reach, as far as undefined values are kept there.
REACHED = {
    "shared": ("shared",),
    "shared::cluster": ("shared",),
    "local": ("local",),
    "param::func": ("param::func",),
    "generic": ("shared", "local", "param::func"),
}


def defined_words(access: Access, batch: Batch, addresses: np.ndarray) -> np.ndarray:
    """The words at `addresses: [n, 32]` u64 that hold no undefined value: [n, 32, access.count] bool."""
    result = np.ones((*batch.mask.shape, access.count), bool)
    for part in access.places(batch, addresses):
        state = part.memory.states(part.index, access.size)
        marked = state & UNDEFINED != 0
        if part.space in access.copies_unwritten:
            marked |= state & INITIALIZED == 0
        result[part.batch.mask] = ~marked.reshape(-1, access.count, access.width).any(axis=-1)
    return result


def require_defined_in_global(access: Access, batch: Batch, addresses: np.ndarray, defined: np.ndarray) -> None:
    """Report the lanes that store to global memory a value that is not `defined: [n, 32, access.count]`."""
    for part in access.places(batch, addresses):
        missing = part.batch.mask & ~defined.all(axis=-1)
        if part.space == "global" and missing.any():
            batch.report("uninitialized", "a register that was never written is stored to global memory", missing)


def mark_words(access: Access, batch: Batch, addresses: np.ndarray, defined: np.ndarray) -> None:
    """Mark the words that have been stored and are not `defined: [n, 32, access.count]`.

    Where several lanes have stored to one word, it is the last of them that counts, as for its value.
    """
    for part in access.places(batch, addresses):
        if part.space == "global":
            continue
        index, words = part.index.reshape(-1), defined[part.batch.mask]
        stored = (part.memory.states(index, access.size) & ALLOCATED != 0).all(axis=-1)
        stored &= index & (access.size - 1) == 0
        marks = np.where(np.repeat(words, access.width, axis=-1), READY, READY | UNDEFINED)
        places = index[:, None] + np.arange(access.size)
        part.memory.state[places[stored]] = marks[stored]
