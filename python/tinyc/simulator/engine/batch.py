"""Threads that execute one instruction together: warps (rows) of one CTA, with a mask of their lanes.

Made by `schedule`, narrowed by guards, handed to the closures of the instructions.
"""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tinyc.simulator.engine.cta import Cta

#: Lanes of a warp, and their numbers.
WARP = 32
LANES = np.arange(WARP)


class Batch:
    """Lanes of some warps of a CTA that are at one program counter.

    Shapes: `warps: [n]` are the warps' numbers in the CTA and `mask: [n, 32]` the lanes that execute. `rows` selects
    the warps from an array of [warps of the CTA, 32]: None for all of them, a slice where they are neighbours.
    `covers` says that no thread outside of `mask` lives in these warps, so that registers may be written as a whole;
    `dense` says that the mask is all ones.
    """

    __slots__ = ("covers", "cta", "dense", "launch", "mask", "registers", "rows", "warps")

    def __init__(self, cta: "Cta", warps: np.ndarray, mask: np.ndarray, covers: bool) -> None:
        self.cta = cta
        self.launch = cta.launch
        self.registers = cta.registers
        self.warps = warps
        self.rows = _rows(warps, cta.warp_count)
        self.mask = mask
        self.covers = covers
        self.dense = bool(mask.all())

    @property
    def threads(self) -> np.ndarray:
        """The numbers in their CTA of all lanes of these warps: [n, 32]."""
        return self.warps[:, None] * WARP + LANES

    def in_cta(self, lanes: np.ndarray | None = None) -> np.ndarray:
        """Return `lanes: [n, 32]` of this batch (those that execute where None) as lanes of the CTA: [warps, 32]."""
        places = self.cta.no_lanes()
        places[self.warps] = self.mask if lanes is None else lanes
        return places

    def narrowed(self, mask: np.ndarray) -> "Batch":
        """Return the same warps with only the lanes of `mask`, which are some of this batch's."""
        narrow = Batch.__new__(Batch)
        narrow.cta, narrow.launch, narrow.registers = self.cta, self.launch, self.registers
        narrow.warps, narrow.rows, narrow.mask = self.warps, self.rows, mask
        narrow.covers = narrow.dense = False
        return narrow

    def select(self, array: np.ndarray) -> np.ndarray:
        """Return the rows of an array over the CTA's warps: a view, or a copy where the warps are no neighbours."""
        return array if self.rows is None else array[self.rows]

    def update(self, array: np.ndarray, values: "np.ndarray | int | bool") -> None:
        """Set the lanes of this batch in an array over the CTA's warps."""
        if isinstance(self.rows, np.ndarray):
            array[self.rows] = np.where(_like(self.mask, array), values, array[self.rows])
        else:
            np.copyto(self.select(array), values, where=_like(self.mask, array), casting="unsafe")

    def write(self, array: np.ndarray, values: np.ndarray) -> None:
        """Set a register; where the batch covers its warps, lanes without a thread are written, too."""
        if not self.covers:
            self.update(array, values)
        elif self.rows is None:
            array[...] = values
        else:
            array[self.rows] = values

    def spread(self, values: np.ndarray) -> np.ndarray:
        """Return an array of [n, 32, …] with `values` (one for each active lane, in order) at them, and zeros."""
        full = np.zeros((*self.mask.shape, *values.shape[1:]), values.dtype)
        full[self.mask] = values
        return full

    def split(self, taken: np.ndarray, target: int, otherwise: int) -> None:
        """Send the lanes of `taken` to `target` and the others of this batch to `otherwise`."""
        cta = self.cta
        lanes = taken & self.mask
        count = np.count_nonzero(lanes)
        if not count:
            self.proceed(otherwise)
        elif count == np.count_nonzero(self.mask):
            self.proceed(target)
        else:
            cta.diverge()
            self.update(cta.pc, np.where(lanes, target, otherwise))

    def proceed(self, target: int) -> None:
        """Send all lanes of this batch to `target`."""
        if self.cta.uniform is not None and self.covers and self.rows is None:
            self.cta.uniform = target
        else:
            self.cta.diverge()
            self.update(self.cta.pc, target)

    def report(
        self,
        kind: str,
        message: str,
        lanes: np.ndarray | None = None,
        address: int | None = None,
        space: str = "shared",
    ) -> None:
        """Record a finding of kind `kind` at the instruction that runs, by `lanes: [n, 32]` (all where None).

        `address` is one of `space`.
        """
        self.cta.report(kind, message, self.cta.at, self.in_cta(lanes), address, space)


def _rows(warps: np.ndarray, warp_count: int) -> "slice | np.ndarray | None":
    if len(warps) == warp_count:
        return None
    first, last = int(warps[0]), int(warps[-1])
    return slice(first, last + 1) if last - first + 1 == len(warps) else warps


def _like(mask: np.ndarray, array: np.ndarray) -> np.ndarray:
    return mask if array.ndim == mask.ndim else mask.reshape(*mask.shape, *[1] * (array.ndim - mask.ndim))
