"""What kernels have noted in their status slots: an index that is outside of the axis that it indexes."""

import numpy as np

from tinyc.runtime.index_error import index_error
from tinyc.runtime.program import STATUS_WORDS, KernelLaunch, Program


def fresh_status(program: Program) -> np.ndarray:
    """Slots in which nothing is noted."""
    return np.zeros((program.status_slots, STATUS_WORDS), np.int64)


def earliest_notes(status: np.ndarray) -> np.ndarray:
    """The slots of one thread, from those of several, whatever thread each is of: the notes of the earliest places."""
    notes = [
        min((note for note in of_slot if note[0]), key=lambda note: tuple(note[4:]), default=of_slot[0])
        for of_slot in status.swapaxes(0, 1)
    ]
    return np.array(notes, status.dtype)


def check_status(program: Program, status: np.ndarray) -> None:
    """Raise for the first kernel that has met an index outside the axis that it indexes.

    Raises:
        TinycError: `IndexOutOfRange`.
    """
    if not len(status) or not status.any():
        return
    for kernel in program.kernels:
        if kernel.status and status[kernel.status.slot, 0]:
            noted, index, axis, extent, *at = map(int, status[kernel.status.slot])
            kept = f"in kernel '{kernel.symbol}', which reads {_reads(program, kernel)}"
            raise index_error(index, at[: noted - 1], axis, extent, kept, kernel.where)


def _reads(program: Program, kernel: KernelLaunch) -> str:
    """The buffers that a kernel reads, the inputs by the names that the user gave them."""
    names = {f"input_{position}": f"input '{name}'" for position, name in enumerate(program.inputs)}
    return " and ".join(names.get(name, name) for name in kernel.reads)
