"""The tiles of a CTA in shared memory, stage by stage: what they hold, and whether accesses to them are in order.

A tile that has not been filled since the CTA began, or since another one took its place, is empty. Filling and reading
are events; who reads must know who has filled, and who fills must know who has filled and read before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from tinyc.dialects.gpu.dialect import SmemType, StagedTile, TgpuOp, staged_tile
from tinyc.dialects.gpu.dynamic_memory import dynamic_offsets
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.events import KnownEvents
from tinyc.mlir import ir
from tinyc.mlir.locations import value_name

#: Rows and columns of a tile, or of a part of it.
TilePart: TypeAlias = tuple[slice, slice]

WHOLE: TilePart = (slice(None), slice(None))
#: The token of no event: nothing has filled an element.
_EMPTY = 0


@dataclass(eq=False)
class Stage:
    """The tile of one stage: its elements, and for each the event that has filled it.

    `places` holds where an element is in the result of an epilogue instead, once such a statement has filled the tile.
    `beside` are the stages that take the same memory. `readers` are the events of the last reads.
    """

    name: str
    values: Array
    filled_by: Array
    places: Array | None = None
    beside: list["Stage"] = field(default_factory=list["Stage"])
    by_threads: set[int] = field(default_factory=set[int])
    readers: set[int] = field(default_factory=set[int])

    def read(self, statement: str, known: KnownEvents, event: int, by_threads: bool, part: TilePart = WHOLE) -> None:
        """Note a read of a part by a statement: by the team's threads, or by tensor cores or TMA.

        Raises:
            KernelFault: it is not there, or not known to be.
        """
        events = {int(each) for each in np.unique(self.filled_by[part])}
        if _EMPTY in events:
            raise KernelFault(f"'{statement}' reads {self.name} before it is filled")
        if not events <= known.of_all:
            what = "which is being filled: no wait, or no barrier, says to all its threads that it is there"
            raise KernelFault(f"'{statement}' reads {self.name}, {what}")
        if not by_threads and not {-each for each in events & self.by_threads} <= known.of_all:
            what = "which threads have filled; 'tgpu.fence_async' has to follow, and a barrier"
            raise KernelFault(f"'{statement}' reads {self.name}, {what}")
        self.readers = {each for each in self.readers if each not in known.of_all} | {event}

    def fill(
        self, statement: str, known: KnownEvents, event: int, by_threads: bool, part: TilePart = WHOLE
    ) -> TilePart:
        """Note that a statement fills a part: by threads and their copies, or by TMA; return the part.

        Raises:
            KernelFault: it is read or filled by others who may not be done.
        """
        for each in (self, *self.beside):
            each._require_done(statement, known, part if each is self else WHOLE)
        for each in self.beside:
            each.filled_by[:], each.readers, each.by_threads = _EMPTY, set(), set()
        self.filled_by[part] = event
        if by_threads:
            self.by_threads.add(event)
        return part

    def result_places(self, statement: str) -> Array:
        """Where its elements are in the result of an epilogue.

        Raises:
            KernelFault: no epilogue has filled it.
        """
        if self.places is None:
            raise KernelFault(f"'{statement}' writes {self.name}, which no 'tgpu.epilogue_slab' has filled")
        return self.places

    def _require_done(self, statement: str, known: KnownEvents, part: TilePart) -> None:
        if not self.readers <= known.of_all:
            what = "while it may still be read: no wait and barrier says that its readers are done"
            raise KernelFault(f"'{statement}' fills {self.name} {what}")
        if not {int(each) for each in np.unique(self.filled_by[part])} <= {*known.of_all, _EMPTY}:
            raise KernelFault(f"'{statement}' fills {self.name} while it may still be being filled")


def fresh_stages(kernel: GpuKernel, cta: str) -> dict[ir.Value, list[Stage]]:
    """The stages of each circular buffer of a kernel, as a CTA finds them: empty."""
    results: list[ir.Value] = [result for op in kernel.ops if isinstance(op, TgpuOp) for result in op.results]
    tiles: dict[ir.Value, StagedTile] = {
        each: staged_tile(each.type) for each in results if isinstance(each.type, SmemType)
    }
    found: dict[ir.Value, list[Stage]] = {
        value: [_fresh(f"stage {stage} of {name_in_messages(value)} ({cta})", held) for stage in range(held.stages)]
        for value, held in tiles.items()
    }
    _set_beside(found, tiles, dynamic_offsets(kernel))
    return found


def name_in_messages(value: ir.Value) -> str:
    """What messages call the result of a statement."""
    result = value.maybe_downcast()
    assert isinstance(result, ir.OpResult)  # tiles and mbarriers are results of statements
    return value_name(result) or f"the result of '{result.owner.name}'"


def _fresh(name: str, held: StagedTile) -> Stage:
    values = np.frombuffer(b"\xa5" * held.layout.size_bytes, held.tile.element.dtype).reshape(held.tile.shape).copy()
    return Stage(name, values, np.full(held.tile.shape, _EMPTY, np.int64))


def _set_beside(
    found: Mapping[ir.Value, list[Stage]], tiles: Mapping[ir.Value, StagedTile], offsets: Mapping[ir.Value, int]
) -> None:
    """Tell each stage which others take its memory."""
    placed = [
        (offsets[value] + number * tiles[value].layout.size_bytes, tiles[value].layout.size_bytes, stage)
        for value, stages in found.items()
        if value in offsets
        for number, stage in enumerate(stages)
    ]
    for start, size, stage in placed:
        stage.beside = [
            each
            for first, length, each in placed
            if each is not stage and first < start + size and start < first + length
        ]
