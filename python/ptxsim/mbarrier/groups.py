"""The lanes of an mbarrier instruction by the object they name: those that do the same to one object act together.

In: a batch and the addresses and operands of its lanes. Out: groups of lanes in the order in which they act, after
every check on their addresses; lanes that name no shared memory are reported and are in no group.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ptxsim.machine.access import Access, Part
from ptxsim.machine.addresses import address_reader
from ptxsim.machine.cta import Batch, Read, Step
from ptxsim.machine.misuse import Misuse
from ptxsim.machine.site import Site
from ptxsim.mbarrier.barrier import SIZE
from ptxsim.mbarrier.objects import Mbarriers, Place, mbarriers


@dataclass(frozen=True)
class Group:
    """Lanes of `batch` that name, at instruction `at`, the object at `offset` of `objects` with equal operands.

    `positions: [k]` are their numbers among the batch's [n, 32], in order.
    """

    at: int
    objects: Mbarriers
    offset: int
    batch: Batch
    positions: np.ndarray
    operands: tuple[int, ...]

    @property
    def mask(self) -> np.ndarray:
        """The lanes of the group: [n, 32]."""
        mask = np.zeros(self.batch.mask.size, bool)
        mask[self.positions] = True
        return mask.reshape(self.batch.mask.shape)

    @property
    def lanes(self) -> np.ndarray:
        """The lanes of the group in their CTA: [warps, 32]."""
        return self.batch.in_cta(self.mask)

    @property
    def place(self) -> Place:
        """The lanes and the instruction that they execute."""
        return Place(self.batch.cta, self.at, self.lanes)

    def only(self, positions: "np.ndarray | int") -> "Group":
        """The group with only some of its lanes."""
        return replace(self, positions=np.atleast_1d(positions))

    def report(self, misuse: Misuse) -> None:
        """Record a finding by the lanes of the group."""
        self.batch.cta.report(misuse.kind, misuse.message, self.at, self.lanes, self.offset)

    def arrived(self, relaxed: bool = False) -> None:
        """Tell the observer that the lanes arrive at the current phase."""
        self.batch.launch.observer.arrived(self.batch.cta, self.objects.phase(self.offset), self.lanes, relaxed)

    def departed(self, relaxed: bool = False) -> None:
        """Tell the observer that the lanes know the phase before the current one to be complete."""
        self.batch.launch.observer.departed(self.batch.cta, self.objects.phase(self.offset, 1), self.lanes, relaxed)

    def again(self) -> np.ndarray:
        """The positions of the lanes that have found the current phase incomplete here before."""
        before = self.objects.find(self.offset).testing.get(self.at)
        if before is None:
            return self.positions[:0]
        return self.positions[before[self.batch.warps].reshape(-1)[self.positions]]

    def note_test(self) -> None:
        """Note that the lanes have found the current phase incomplete."""
        testing = self.objects.find(self.offset).testing
        testing[self.at] = testing[self.at] | self.lanes if self.at in testing else self.lanes


@dataclass(frozen=True)
class Objects:
    """The address operand of an mbarrier instruction; `remote`: objects of other CTAs of the cluster are allowed."""

    access: Access
    addresses: Read
    remote: bool

    def by_group(self, act: Callable[..., None], *reads: Read) -> Step:
        """The step in which the lanes act by groups, `act(group, *operands)`; what they misuse is reported."""

        def step(batch: Batch) -> None:
            for group in self.groups(batch, *reads):
                try:
                    act(group, *group.operands)
                except Misuse as misuse:
                    group.report(misuse)

        return step

    def groups(self, batch: Batch, *reads: Read) -> Iterator[Group]:
        """Yield the lanes by object and operands, those of one object in order."""
        values = [np.broadcast_to(read(batch), batch.mask.shape).reshape(-1) for read in reads]
        for part in self.access.parts(batch, self.addresses(batch)):
            objects = self._holder(part)
            if objects is None:
                continue
            positions, offsets = self._usable(part)
            operands = [value[positions] for value in values]
            for chosen in _runs(offsets, *operands):
                first = chosen[0]
                named = tuple(int(operand[first]) for operand in operands)
                yield Group(self.access.number, objects, int(offsets[first]), part.batch, positions[chosen], named)

    def _holder(self, part: Part) -> Mbarriers | None:
        """The objects of the CTA whose memory is named; report memory that holds none."""
        cta = part.batch.cta
        holder = next((peer for peer in cta.peers if peer.shared is part.memory), None)
        if holder is None:
            part.batch.report("out-of-bounds", f"names an mbarrier object in {part.space} memory; they are in shared")
            return None
        if holder is not cta and not self.remote:
            message = "names an mbarrier object of another CTA, which only operations without a result may"
            part.batch.report("out-of-bounds", message)
            return None
        return mbarriers(holder)

    def _usable(self, part: Part) -> tuple[np.ndarray, np.ndarray]:
        """The lanes (their numbers in the batch) whose object is in memory, and its offset."""
        offsets = part.index.reshape(-1)
        positions = np.flatnonzero(part.batch.mask)
        view = part.memory.view(SIZE, 1)
        needed = view.allocated if self.access.kind == "store" else view.ready
        fine = (view.state.take(offsets // SIZE, mode="clip") & needed) == needed
        usable = None
        if not fine.all() or (offsets % SIZE).any():
            usable = self.access.examine(part)
            fine &= usable.reshape(-1)
        part.batch.launch.observer.accessed(self.access, part.batch, part.memory, part.index, usable)
        return positions[fine], offsets[fine]


def objects_at(site: Site, operand: object, space: str, kind: str = "atomic", remote: bool = False) -> Objects:
    """The objects that `[operand]` names; `kind` is that of the access to their words."""
    space, addresses = address_reader(site, operand, space)
    if not space.startswith("shared") and space != "generic":
        site.fail("an mbarrier object is in shared memory")
    order, scope = ("weak", "sys") if kind == "store" else ("relaxed", "cluster")
    return Objects(Access(space, SIZE, 1, site.index, kind, order, scope), addresses, remote)


def _runs(offsets: np.ndarray, *operands: np.ndarray) -> list[np.ndarray]:
    """The positions by offset, and each offset's in order by equal operands that follow each other."""
    if not len(offsets):
        return []
    if all((each == each[0]).all() for each in (offsets, *operands)):
        return [np.arange(len(offsets))]
    order = np.argsort(offsets, kind="stable")
    keys = np.stack([offsets, *(operand.astype(np.int64) for operand in operands)])[:, order]
    return np.split(order, np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1)
