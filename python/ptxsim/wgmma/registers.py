"""The registers of `wgmma.mma_async`: who else touches them, and whether a fence or a wait stands in between.

In: the sites of a kernel. Out: the steps of those instructions that touch a register which some `wgmma` uses, with a
look at what is under way; all others are as they were. The rules, of PTX ISA, `wgmma.fence` and `wgmma.mma_async`:

- A `wgmma.fence` stands before the first `wgmma` of a warp, and between an access of a register and a `wgmma` that uses
  it, as accumulator or as fragment of A; accumulators go from `wgmma` to `wgmma` of one shape without.
- Until a `wgmma.wait_group` covers it, a `wgmma` may write its accumulators and read its fragments of A. Reading those
  at the same time does no harm and is not reported.
"""

import numpy as np

from ptxsim.machine.cta import Batch, Cta, Step
from ptxsim.machine.site import Site
from ptxsim.machine.warp import WARP
from ptxsim.matrix.modifiers import MatrixShape
from ptxsim.parsing.syntax import Operand, Slot, Vector

_NO_SHAPE = 0
_IN_FLIGHT, _FENCE_MISSING = "wgmma-in-flight", "wgmma-fence-missing"
_WRITES = "a wgmma that writes it is under way; a wgmma.wait_group must come first"
_READS = "a wgmma that reads it as A is under way; a wgmma.wait_group must come first"
_SINCE = "since the last wgmma.fence; another one must come first"


class RegisterUse:
    """What the warps of a CTA have done with the kernel's registers.

    Shapes: [warps, registers] for all but `fenced: [warps]`. Since the last fence of the warp: `accessed` by other
    instructions than `wgmma`, `read_as_a` by a `wgmma`, `accumulated` by `wgmma`s of one shape (its number). Under way:
    `writing` and `reading`.
    """

    def __init__(self, cta: Cta) -> None:
        self._slots = cta.launch.code.slots
        self._shapes: dict[MatrixShape, int] = {}
        size = (cta.warp_count, len(self._slots))
        self.fenced = np.zeros(cta.warp_count, bool)
        self.accessed, self.read_as_a, self.writing, self.reading = (np.zeros(size, bool) for _ in range(4))
        self.accumulated = np.full(size, _NO_SHAPE, np.int16)
        self._busy = False

    def fence(self, warps: np.ndarray) -> None:
        """Order what the warps have done with their registers before what `wgmma`s do with them from now on."""
        self.fenced[warps] = True
        self.accessed[warps] = self.read_as_a[warps] = False
        self.accumulated[warps] = _NO_SHAPE

    def access(self, batch: Batch, touched: np.ndarray, written: np.ndarray) -> None:
        """Note that another instruction accesses registers, and report those that are in use."""
        warps = batch.warps if batch.covers else batch.warps[batch.mask.any(axis=1)]
        self.accessed[warps[:, None], touched] = True
        if self._busy:
            rows = batch.warps[:, None]
            self._report(batch, _IN_FLIGHT, touched, self.writing[rows, touched], f"is accessed while {_WRITES}")
            self._report(batch, _IN_FLIGHT, written, self.reading[rows, written], f"is written while {_READS}")

    def issue(self, batch: Batch, shape: MatrixShape, d: np.ndarray, a: np.ndarray) -> None:
        """Note that a warpgroup starts a `wgmma` with accumulators `d` and fragments `a`; report what it lacks."""
        rows = batch.warps[:, None]
        number = self._shapes.setdefault(shape, len(self._shapes) + 1)
        unfenced = ~self.fenced[batch.warps]
        if unfenced.any():
            message = "the first wgmma.mma_async of a warp, with no wgmma.fence before it"
            batch.report(_FENCE_MISSING, message, _lanes(unfenced))
        else:
            self._require_fences(batch, number, d, a)
        self._report(batch, _IN_FLIGHT, a, self.writing[rows, a], f"is read while {_WRITES}")
        self._report(batch, _IN_FLIGHT, d, self.reading[rows, d], f"is accumulated in while {_READS}")
        self.accumulated[rows, d] = number
        self.read_as_a[rows, a] = True
        self.start(batch.warps, d, a)

    def _require_fences(self, batch: Batch, number: int, d: np.ndarray, a: np.ndarray) -> None:
        rows = batch.warps[:, None]
        both, before = np.concatenate((d, a)), self.accumulated[rows, d]
        used = (before != _NO_SHAPE) & (before != number) | self.read_as_a[rows, d]
        self._report(
            batch,
            _FENCE_MISSING,
            both,
            self.accessed[rows, both],
            f"was read or written by another instruction {_SINCE}",
        )
        self._report(batch, _FENCE_MISSING, d, used, f"was used by a wgmma of another shape or as A {_SINCE}")
        accumulated = self.accumulated[rows, a] != _NO_SHAPE
        self._report(batch, _FENCE_MISSING, a, accumulated, f"was an accumulator of a wgmma {_SINCE}")

    def start(self, warps: np.ndarray, d: np.ndarray, a: np.ndarray) -> None:
        """Let a `wgmma` of the warps be under way."""
        self.writing[warps[:, None], d] = True
        self.reading[warps[:, None], a] = True
        self._busy = True

    def complete(self, warps: np.ndarray) -> None:
        """Let no `wgmma` of the warps be under way."""
        self.writing[warps] = self.reading[warps] = False
        self._busy = bool(self.writing.any())

    def _report(self, batch: Batch, kind: str, slots: np.ndarray, found: np.ndarray, what: str) -> None:
        """Report the warps that have `found: [warps of the batch, slots]`, and the first such register."""
        if not np.count_nonzero(found):
            return
        lanes = _lanes(np.any(found, axis=1)) & batch.mask
        if lanes.any():
            name = self._slots[slots[found.any(axis=0).argmax()]].name
            batch.report(kind, f"register '{name}' {what}", lanes)


def _lanes(warps: np.ndarray) -> np.ndarray:
    return np.repeat(warps[:, None], WARP, axis=1)


def register_use(cta: Cta) -> RegisterUse:
    """The use of a CTA's registers."""
    return cta.state_of(RegisterUse)


def watched(sites: list[Site], steps: list[Step]) -> list[Step]:
    """The steps, those that touch a register of a `wgmma` with a look at it."""
    slots = {slot for site in sites for slot in _registers(site)}
    if not slots:
        return steps
    return [_watched(site, step, slots) for site, step in zip(sites, steps, strict=True)]


def _registers(site: Site) -> set[int]:
    """The accumulators and the fragments of A of an instruction."""
    instruction = site.instruction
    if instruction.opcode != "wgmma" or instruction.modifiers[:1] != ("mma_async",):
        return set()
    return {slot for operand in instruction.operands[:2] for slot in slots_of(operand).tolist()}


def slots_of(operand: Operand) -> np.ndarray:
    """The numbers of the registers in a vector operand; none where it is something else."""
    items = operand.items if isinstance(operand, Vector) else ()
    return np.array([item.index for item in items if isinstance(item, Slot)], np.int64)


def _watched(site: Site, step: Step, slots: set[int]) -> Step:
    touched = np.array(sorted((site.reads | site.writes) & slots), np.int64)
    if not touched.size or site.instruction.opcode == "wgmma":
        return step
    written = np.array(sorted(site.writes & slots), np.int64)

    def step_with_look(batch: Batch) -> bool | None:
        register_use(batch.cta).access(batch, touched, written)
        return step(batch)

    return step_with_look
