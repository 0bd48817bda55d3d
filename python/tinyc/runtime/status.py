"""What kernels have noted in their status slots: an index that is outside of the axis that it indexes."""

import numpy as np

from tinyc.runtime.index_error import index_error
from tinyc.runtime.program import STATUS_WORDS, KernelLaunch, Program


def fresh_status(program: Program) -> np.ndarray:
    """Slots in which nothing is noted."""
    return np.zeros((program.status_slots, STATUS_WORDS), np.int64)


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
