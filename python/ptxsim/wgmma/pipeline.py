"""The `wgmma`s of a warpgroup that are under way: results that no register has yet, and the groups they are in.

In: products as they are issued, commits, waits. Out: registers get their values at the wait that covers the last
`wgmma` that writes them, so that who reads early reads what was there before. Source: PTX ISA, `wgmma.commit_group`,
`wgmma.wait_group`.
"""

from dataclasses import dataclass, field

import numpy as np

from ptxsim.machine.cta import Batch, Cta, Write
from ptxsim.machine.observer import AsyncOperation, Phase
from ptxsim.wgmma.product import WARPS
from ptxsim.wgmma.registers import register_use


@dataclass(frozen=True, eq=False)
class Accumulators:
    """The registers that a `wgmma` writes: their numbers, in order, and how to write them."""

    slots: np.ndarray
    writes: tuple[Write, ...]

    @property
    def key(self) -> bytes:
        """What tells these registers, in this order, from others."""
        return self.slots.tobytes()


@dataclass(frozen=True, eq=False)
class Product:
    """One `wgmma` under way: its registers, and the number of the group that it is or will be in."""

    accumulators: Accumulators
    fragments: np.ndarray
    operation: AsyncOperation
    group: int


@dataclass(eq=False)
class Pipeline:
    """The `wgmma`s of warpgroup `number`; `pending` has the values that its accumulators will have: [4, 32, registers].

    `committed` counts the groups, so that it is the number of the one that the next commit makes.
    """

    number: int
    committed: int = 0
    under_way: list[Product] = field(default_factory=list)
    pending: dict[bytes, tuple[Accumulators, np.ndarray]] = field(default_factory=dict)

    def start(self, batch: Batch, product: Product, values: np.ndarray) -> None:
        """Let a product be under way that gives its accumulators `values`."""
        self.under_way.append(product)
        self.pending[product.accumulators.key] = (product.accumulators, values)
        batch.launch.progress += 1
        batch.launch.observer.started(product.operation)

    def values(self, batch: Batch, accumulators: Accumulators) -> np.ndarray | None:
        """The values that accumulators will have; None: what they have now.

        Others under way that share only some of the registers come first, in the order of the instructions.
        """
        known = self.pending.get(accumulators.key)
        if known is not None:
            return known[1]
        for key, (others, values) in list(self.pending.items()):
            if np.isin(others.slots, accumulators.slots).any():
                _write(batch, others, values)
                del self.pending[key]
        return None

    def commit(self) -> None:
        """Make a group of the products that are in none."""
        self.committed += 1

    def wait(self, batch: Batch, allowed: int) -> None:
        """Complete all groups but the latest `allowed`: what only they write gets its values."""
        done = [product for product in self.under_way if product.group < self.committed - allowed]
        if not done:
            return
        self.under_way = [product for product in self.under_way if product.group >= self.committed - allowed]
        self._tell(batch, done)
        still = {product.accumulators.key for product in self.under_way}
        for key in [key for key in self.pending if key not in still]:
            _write(batch, *self.pending.pop(key))
        use = register_use(batch.cta)
        use.complete(batch.warps)
        for product in self.under_way:
            use.start(batch.warps, product.accumulators.slots, product.fragments)

    def _tell(self, batch: Batch, done: list[Product]) -> None:
        cta, observer, lanes = batch.cta, batch.launch.observer, batch.in_cta()
        for product in done:
            observer.finished(product.operation, Phase("wgmma", cta, self.number, product.group))
        for group in sorted({product.group for product in done}):
            observer.departed(cta, Phase("wgmma", cta, self.number, group), lanes)


def _write(batch: Batch, accumulators: Accumulators, values: np.ndarray) -> None:
    for number, write in enumerate(accumulators.writes):
        write(batch, values[..., number])


def _pipelines(cta: Cta) -> list[Pipeline]:
    return [Pipeline(number) for number in range(cta.warp_count // WARPS)]


def pipeline_of(batch: Batch) -> Pipeline:
    """The pipeline of the warpgroup that a batch of its 4 warps is."""
    return batch.cta.state_of(_pipelines)[int(batch.warps[0]) // WARPS]
