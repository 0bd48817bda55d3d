"""How far the loads of a kernel run ahead of its products and stores: an observer of a launch on the simulator.

In: what the warps of a launch execute. Out: for each product of a tile along k by a warp, and for each store of what
it has finished, how many tiles further on the loads have been issued. Loads of a tile end with the commit of their
group, or begin with the bytes that an mbarrier is to expect; a warp has multiplied a tile when it has executed all of
its `mma`, or commits its group of `wgmma`; a store is one by TMA.
"""

from collections import Counter

import numpy as np

from ptxsim.machine.observer import ObservedCta, ObservedLaunch, Observer
from ptxsim.parsing.syntax import Instruction

_LOADED = ("cp.async.commit_group", "mbarrier.arrive.expect_tx")
_STORED = "cp.async.bulk.tensor.2d.global.shared::cta"
_GROUP_WARPS = 4


class RunAhead(Observer):
    """Counts loaded tiles by CTA, products by warp; `mma_of_a_step` are those of a warp's tile where there is no wgmma.

    Where two warpgroups take the tiles of the output in turn, `steps_in_turn` is how many tiles along k each has: the
    first group of warps loads, and those behind it multiply.

    `ahead` has, for each CTA and each tile along k since the launch began, the fewest tiles that were loaded beyond it
    when a warp multiplied it. `ahead_of_stores` has, for each CTA and the last tile along k that was multiplied for
    what is stored, the fewest tiles that were loaded beyond it at such a store.
    """

    def __init__(self, mma_of_a_step: int = 1, steps_in_turn: int = 0) -> None:
        self.ahead: dict[tuple[int, int], int] = {}
        self.ahead_of_stores: dict[tuple[int, int], int] = {}
        self._loaded: Counter[int] = Counter()
        self._multiplied: Counter[tuple[int, int]] = Counter()
        self._mma_of_a_step, self._steps_in_turn = mma_of_a_step, steps_in_turn

    def began(self, launch: ObservedLaunch) -> None:
        """Keep the code, of which `ran` gives places."""
        self._code = launch.code

    def ran(self, cta: ObservedCta, warps: np.ndarray, start: int, end: int, mask: np.ndarray) -> None:
        """Count what warps have executed, in the order in which they did."""
        for instruction in self._code.instructions[start:end]:
            name = _name(instruction)
            if name.startswith(_LOADED):
                self._loaded[cta.number] += 0 in warps
            elif name.startswith("wgmma.commit_group"):
                self._multiply(cta, warps, 1)
            elif name.startswith("mma."):
                self._multiply(cta, warps, self._mma_of_a_step)
            elif name.startswith(_STORED):
                for warp in warps[mask.any(axis=1)].tolist():
                    self._note(self.ahead_of_stores, cta, warp, self._multiplied[cta.number, warp] - 1)

    def _multiply(self, cta: ObservedCta, warps: np.ndarray, of_a_step: int) -> None:
        for warp in warps.tolist():
            self._multiplied[cta.number, warp] += 1
            step, rest = divmod(self._multiplied[cta.number, warp], of_a_step)
            if not rest:
                self._note(self.ahead, cta, warp, step - 1)

    def _note(self, noted: dict[tuple[int, int], int], cta: ObservedCta, warp: int, step: int) -> None:
        """Note how far loads are beyond the `step`-th tile along k of a warp, the fewest for the CTA."""
        if self._steps_in_turn:
            tile, step = divmod(step, self._steps_in_turn)
            step += self._steps_in_turn * (2 * tile + warp // _GROUP_WARPS - 1)
        now, key = self._loaded[cta.number] - step - 1, (cta.number, step)
        noted[key] = min(now, noted.get(key, now))


def _name(instruction: Instruction) -> str:
    return ".".join((instruction.opcode, *instruction.modifiers))
