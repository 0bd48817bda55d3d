"""Common loops: which axes of several blocks one outer loop can run over, so that all of them are in its body.

Along an edge, an axis of the producer goes with the axis of the consumer that moves it. Axes that go together are one
loop where every block that is not recomputed at will has exactly one of them. Blocks that read one tensor by axes of
one extent each go together along these, too, as far as no edge says otherwise: nothing passes between them. An axis of
extent 1 goes with nothing: it is a loop of one step, in which all is computed; blocks share it where the tensor of each
has such an axis.
"""

import functools
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.poly.block import PolyAccess, PolyBlock
from tinyc.analysis.poly_core.tile import kept_axes, scan_axis
from tinyc.expr import axes
from tinyc.expr.axes import Axis, AxisExpr
from tinyc.expr.extents import Dim

_Place = tuple[str, int]


@dataclass(frozen=True)
class Loop:
    """An outer loop: (block, position of its axis) for each block that it runs over, in the order of the blocks."""

    axes: tuple[_Place, ...]

    def axis_of(self, block: str) -> int | None:
        """The axis of a block that the loop runs over, or None."""
        return self._by_block.get(block)

    @functools.cached_property
    def _by_block(self) -> Mapping[str, int]:
        return dict(self.axes)


def common_loops(blocks: Sequence[PolyBlock], anchors: Iterable[str]) -> tuple[Loop, ...]:
    """The loops that all `anchors` have, outermost first as the last block has its axes.

    `anchors` are the names of the blocks whose elements are to be made once, halos excepted.
    """
    joined = _Joined(blocks)
    required = set(anchors)
    loops = [Loop(tuple(places)) for places in joined.classes()]
    found = [loop for loop in loops if _is_common(loop, required)]
    return tuple(sorted(found, key=lambda loop: loop.axes[-1][::-1]))


def have_single_step(blocks: Sequence[PolyBlock], anchors: Iterable[str]) -> bool:
    """Whether each of `anchors` writes a tensor that has an axis of extent 1, or that is one element."""
    required = set(anchors)
    written = (block.written_shape for block in blocks if block.name in required)
    return all(1 in shape or not shape for shape in written)


def sinks(blocks: Sequence[PolyBlock]) -> tuple[PolyBlock, ...]:
    """The blocks that no other of `blocks` reads: these are what a step of the loops is made for."""
    read = {access.tensor for block in blocks for access in block.accesses}
    return tuple(block for block in blocks if block.name not in read)


def _is_common(loop: Loop, required: set[str]) -> bool:
    names = [name for name, _ in loop.axes]
    return len(set(names)) == len(names) and required <= set(names)


class _Joined:
    """Union-find over (block, axis); what no loop may run over is `spoilt`. A root has the names of its blocks."""

    def __init__(self, blocks: Sequence[PolyBlock]) -> None:
        self._up: dict[_Place, _Place] = {}
        self._names: dict[_Place, set[str]] = {}
        self._spoilt: set[_Place] = set()
        by_name = {block.name: block for block in blocks}
        for block in blocks:
            for position in sorted(kept_axes(block)):
                place = block.name, position
                self._up[place], self._names[place] = place, {block.name}
            along = scan_axis(block)
            if along is not None:
                self._spoilt.add((block.name, along))
        for block in blocks:
            for access in block.accesses:
                if access.tensor in by_name:
                    self._join(by_name[access.tensor], block, access)
        self._join_readers(blocks, by_name)
        self._join_strangers(blocks, by_name)

    def classes(self) -> list[list[_Place]]:
        """The axes that go together, without those that are spoilt."""
        found: dict[_Place, list[_Place]] = {}
        for place in self._up:
            found.setdefault(self._root(place), []).append(place)
        spoilt = {self._root(place) for place in self._spoilt}
        return [places for root, places in found.items() if root not in spoilt]

    def _join_readers(self, blocks: Sequence[PolyBlock], inside: Collection[str]) -> None:
        """Let blocks that read an axis of a tensor from outside go together along it, where they do not yet."""
        readers: dict[tuple[str, int], tuple[_Place, Dim]] = {}
        for block in blocks:
            kept = kept_axes(block)
            for access in block.accesses:
                for number, row in enumerate(access.index):
                    axis = axes.plain_axis(row)
                    if axis is None or axis not in kept or access.tensor in inside:
                        continue
                    mine = ((block.name, axis), block.statement.shape[axis])
                    other = readers.setdefault((access.tensor, number), mine)
                    if other[1] == mine[1]:
                        self._join_apart(other[0], mine[0])
        same: dict[tuple[object, ...], str] = {}
        for block in blocks:
            kept, shape = tuple(sorted(kept_axes(block))), block.statement.shape
            for access in block.accesses:
                if access.tensor not in inside:
                    other_name = same.setdefault((access.tensor, access.index, shape, kept), block.name)
                    for axis in kept:
                        self._join_apart((other_name, axis), (block.name, axis))

    def _join_strangers(self, blocks: Sequence[PolyBlock], by_name: Mapping[str, PolyBlock]) -> None:
        """Let blocks that no tensor connects go together, axis by axis, where the extents are the same."""
        for first, second in itertools.pairwise(sinks(blocks)):
            mine, others = _moving(first), _moving(second)
            same = [first.statement.shape[axis] for axis in mine] == [second.statement.shape[axis] for axis in others]
            if same and _reached(first, by_name).isdisjoint(_reached(second, by_name)):
                for one, other in zip(mine, others, strict=True):
                    self._join_apart((first.name, one), (second.name, other))

    def _join_apart(self, one: _Place, other: _Place) -> None:
        """Let two axes go together, if no block has axes in both classes."""
        names, others = self._names[self._root(one)], self._names[self._root(other)]
        if names.isdisjoint(others):
            self._unite(one, other)

    def _unite(self, one: _Place, other: _Place) -> None:
        larger, smaller = sorted((self._root(one), self._root(other)), key=lambda root: -len(self._names[root]))
        if larger != smaller:
            self._up[smaller] = larger
            self._names[larger] |= self._names.pop(smaller)

    def _root(self, place: _Place) -> _Place:
        while self._up[place] != place:
            self._up[place] = place = self._up[self._up[place]]
        return place

    def _join(self, producer: PolyBlock, consumer: PolyBlock, access: PolyAccess) -> None:
        for row, written in zip(access.index, producer.write, strict=True):
            if not written.terms:
                continue
            mine = (producer.name, min(axes.positions(written)))
            moving = sorted(axes.positions(row) & kept_axes(consumer))
            if len(moving) != 1 or not _is_stepped(row, moving[0]):
                # The tile of no single axis says which elements are read: every tile may read them all.
                self._spoilt |= {mine, *((consumer.name, position) for position in moving)}
                continue
            self._unite((consumer.name, moving[0]), mine)


def _moving(block: PolyBlock) -> list[int]:
    """The axes that tell the elements of a block apart."""
    return [axis for axis in sorted(kept_axes(block)) if block.statement.shape[axis] != 1]


def _reached(block: PolyBlock, by_name: Mapping[str, PolyBlock]) -> set[str]:
    """The tensors that a block is made of, however many others are between."""
    found: set[str] = set()
    pending = [block.name]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += [access.tensor for access in by_name[name].accesses] if name in by_name else []
    return found


def _is_stepped(row: AxisExpr, position: int) -> bool:
    """Whether a row moves with an axis by equal steps."""
    return any(atom == Axis(position) for atom, _ in row.terms) and all(
        isinstance(atom, Axis) or position not in axes.positions(atom.numerator) for atom, _ in row.terms
    )
