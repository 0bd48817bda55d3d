"""The matrices A and B of a `wgmma`: in shared memory, where a descriptor says so, or fragments of A in registers.

In: an operand. Out: the elements as bit patterns, the shared memory that they are read from, and which of them are
defined. Chunks outside of what is allocated are reported and read as zeros.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ptxsim.machine.access import Access
from ptxsim.machine.cta import Batch, Read
from ptxsim.machine.observer import Region
from ptxsim.machine.site import Site
from ptxsim.matrix.operands import registers_of, stacked
from ptxsim.memory.byte_array import ALLOCATED, INITIALIZED, UNDEFINED
from ptxsim.memory.traffic import PASS_BYTES
from ptxsim.parsing.syntax import Operand, Vector
from ptxsim.wgmma.descriptor import CHUNK_BYTES
from ptxsim.wgmma.product import WarpgroupMma

_ALL_ONES = np.uint32(0xFFFFFFFF)


def uniform(batch: Batch, read: Read, name: str) -> int:
    """A value that all threads of a warpgroup must agree on; report where they do not."""
    values = read(batch)
    first = values.flat[0]
    different = values != first
    if np.count_nonzero(different):
        batch.report("barrier-divergence", f"{name} is not the same in all threads of the warpgroup", different)
    return int(first)


@dataclass(frozen=True, eq=False)
class SharedMatrix:
    """A matrix in shared memory; `addresses` and `arranged` are those of the operation, for A or for B."""

    name: str
    access: Access
    descriptor: Read
    addresses: Callable[[int, bool], np.ndarray]
    arranged: Callable[[np.ndarray, bool], np.ndarray]
    mn_major: bool

    def elements(self, batch: Batch) -> tuple[np.ndarray, tuple[Region, ...]]:
        """The elements, bit patterns, and the regions that the warpgroup reads."""
        shared = batch.cta.shared
        view = shared.view(self.access.width, self.access.count)
        addresses = self.addresses(uniform(batch, self.descriptor, f"the descriptor of {self.name}"), self.mn_major)
        words = addresses >> view.shift
        chunks = view.data.take(words, axis=0, mode="clip")
        index = addresses.reshape(-1)
        if (view.state.take(words, axis=0, mode="clip") != view.ready).any():
            usable = self._examine(batch, index)
            chunks[~usable.reshape(addresses.shape)] = 0
            index = index[usable]
        self._count(batch, addresses.size)
        regions = (Region(shared, index, CHUNK_BYTES),) if index.size else ()
        return self.arranged(chunks.view(np.uint8), self.mn_major), regions

    def defined(self, batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        """The elements that are defined; the `states` of registers do not matter."""
        view = batch.cta.shared.view(1, CHUNK_BYTES)
        addresses = self.addresses(int(self.descriptor(batch).flat[0]), self.mn_major)
        chunks = view.state.take(addresses >> view.shift, axis=0, mode="clip") & np.uint8(UNDEFINED)
        return self.arranged(chunks, self.mn_major) == 0

    def _examine(self, batch: Batch, index: np.ndarray) -> np.ndarray:
        """Report the chunks that are not there or that nobody has written; return which are there."""
        state = batch.cta.shared.states(index, CHUNK_BYTES)
        usable = np.all(state & ALLOCATED, axis=-1)
        unwritten = usable & ~np.all(state & INITIALIZED, axis=-1)
        what = f"wgmma reads {CHUNK_BYTES} bytes of {self.name} in shared memory"
        if not usable.all():
            batch.report("out-of-bounds", f"{what} outside of what is allocated", address=int(index[~usable][0]))
        if unwritten.any():
            batch.report("uninitialized", f"{what} that nobody has written", address=int(index[unwritten][0]))
        return usable

    def _count(self, batch: Batch, chunks: int) -> None:
        """Count the bytes; passes through the banks are as few as can be."""
        passes = -(-chunks * CHUNK_BYTES // PASS_BYTES)
        batch.launch.tally(self.access.number, "load", "shared", CHUNK_BYTES).add(chunks, 1, passes, passes)


@dataclass(frozen=True, eq=False)
class RegisterMatrix:
    """A in registers: what the four warps have of it."""

    operation: WarpgroupMma
    reads: list[Read]

    def elements(self, batch: Batch) -> tuple[np.ndarray, tuple[Region, ...]]:
        """The elements, bit patterns; they are in no memory."""
        return self.operation.a_of_registers(stacked(batch, self.reads, 32)), ()

    def defined(self, batch: Batch, states: Sequence[np.ndarray]) -> np.ndarray:
        """The elements that are defined; `states` are those of the registers."""
        shape = batch.mask.shape
        known = np.stack([np.broadcast_to(state, shape) for state in states], axis=-1)
        return self.operation.a_of_registers(np.where(known, np.uint32(0), _ALL_ONES)) == 0


def shared_a(site: Site, operation: WarpgroupMma, operand: Operand, mn_major: bool) -> SharedMatrix:
    """A where a descriptor describes it."""
    return _shared(site, "A", operand, operation.a_addresses, operation.a_of_chunks, mn_major)


def shared_b(site: Site, operation: WarpgroupMma, operand: Operand, mn_major: bool) -> SharedMatrix:
    """B, which a descriptor describes."""
    return _shared(site, "B", operand, operation.b_addresses, operation.b_of_chunks, mn_major)


def _shared(site: Site, name: str, operand: Operand, addresses, arranged, mn_major: bool) -> SharedMatrix:
    site.decides(operand, "a matrix descriptor")
    access = Access("shared", 8, 2, site.index, "load")
    return SharedMatrix(name, access, site.reader(operand, "b64"), addresses, arranged, mn_major)


def register_a(site: Site, operation: WarpgroupMma, operand: Vector) -> RegisterMatrix:
    """A where registers hold its fragments."""
    items = registers_of(site, operand, operation.a_registers)
    return RegisterMatrix(operation, [site.reader(item, "b32") for item in items])
