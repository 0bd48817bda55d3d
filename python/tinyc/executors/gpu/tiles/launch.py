"""A launch of a kernel at the level of statements: what its arguments are, what its bodies compute, what is written.

A body is evaluated once for the whole launch, by the reference executor; tiles are cut from what it gives. That of an
epilogue runs when all CTAs have finished: until then the tensor that it goes on from is put together, and outputs hold
where in the body's result each of their elements is.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tinyc.analysis.elementwise_reads import elementwise_reads
from tinyc.dialects.gpu.dialect import OutputOp, accumulator_tile
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.statements import EpilogueSlabOp, LoadFragmentOp, LoadTileOp, StGlobalVecOp, TmaStoreOp
from tinyc.dialects.gpu.statements.load_tile import ComputedTileOp
from tinyc.dialects.region import ops as region
from tinyc.executors.elements import REFERENCE, cast_array
from tinyc.executors.gpu.memory import Array, KernelFault
from tinyc.executors.gpu.tiles.events import Events
from tinyc.executors.reference import evaluate_body
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.runtime import sizes
from tinyc.runtime.device_memory import Argument, PlacedTensorMap
from tinyc.vocabulary.attributes import tensor_type

#: A place of no element.
NOWHERE = -1
#: Places are numbered statement by statement, with room for as many elements in the result of each.
_ROOM = 2**40
#: The token of no event of a launch.
_OF_AN_EARLIER_LAUNCH = 0


@dataclass
class WrittenBuffer:
    """An output: for each element the place of its value in the results of epilogues."""

    name: str
    memory: Array
    places: Array

    def write(self, statement: str, at: Array, places: Array) -> None:
        """Write elements, each of which must be the first to come there.

        Raises:
            KernelFault.
        """
        if np.any(places == NOWHERE):
            raise KernelFault(f"'{statement}' writes what lies beyond the tensor that its epilogue finishes")
        if np.any((at < 0) | (at >= self.places.size)):
            raise KernelFault(f"'{statement}' writes beyond {self.name}")
        if np.any(self.places[at] != NOWHERE) or np.unique(at).size != at.size:
            raise KernelFault(f"'{statement}' writes elements of {self.name} that have been written")
        self.places[at] = places

    def require_whole(self) -> None:
        """Check that all elements have been written.

        Raises:
            KernelFault.
        """
        missing = np.flatnonzero(self.places == NOWHERE)
        if missing.size:
            raise KernelFault(f"{missing.size} elements of {self.name} are not written, the first is {missing[0]}")


@dataclass
class PartialSums:
    """The sums of a workspace: the event in which this launch has written each, if so, and whose team each event is."""

    events: Array
    teams: dict[int, object] = field(default_factory=dict[int, object])

    def require_known(self, statement: str, known: set[int], team: object, part: tuple[int, slice, slice]) -> None:
        """Check that all threads of a team know who has written a part; what a thread wrote itself it knows.

        Raises:
            KernelFault.
        """
        written = {int(each) for each in np.unique(self.events[part])} - {_OF_AN_EARLIER_LAUNCH}
        if not {each for each in written if self.teams[each] is not team} <= known:
            what = "which are being written: no semaphore, or no barrier, says to all its threads that they are there"
            raise KernelFault(f"'{statement}' uses partial sums {what}")


@dataclass
class TileLaunch:
    """One launch of a kernel.

    `released` is what semaphores, by workspace and number, tell those who wait for them.
    """

    kernel: GpuKernel
    grid: tuple[int, ...]
    symbols: dict[str, int]
    tensors: dict[ir.Value, Array]
    maps: dict[ir.Value, PlacedTensorMap]
    outputs: dict[ir.Value, WrittenBuffer]
    events: Events = field(default_factory=Events)
    released: dict[tuple[ir.Value, int], set[int]] = field(default_factory=dict[tuple[ir.Value, int], set[int]])
    _loaded: dict[LoadTileOp, Array] = field(default_factory=dict[LoadTileOp, Array])
    _finished: dict[EpilogueSlabOp, list[Array]] = field(default_factory=dict[EpilogueSlabOp, list[Array]])
    _partial_sums: dict[ir.Value, PartialSums] = field(default_factory=dict[ir.Value, PartialSums])

    @classmethod
    def of(cls, kernel: GpuKernel, grid: Sequence[int], arguments: Sequence[Argument]) -> "TileLaunch":
        """A launch with an array, a number or a map for each argument."""
        given: dict[ir.Value, Argument] = dict(zip(kernel.arguments, arguments, strict=True))
        symbols = {name: int(_number(given[value])) for name, value in kernel.symbols.items()}
        tensors: dict[ir.Value, Array] = {each: _tensor(each, _array(given[each]), symbols) for each in kernel.buffers}
        maps = {each: value for each, value in given.items() if isinstance(value, PlacedTensorMap)}
        written = dict.fromkeys(_buffer(each) for each in kernel.ops if isinstance(each, StGlobalVecOp | TmaStoreOp))
        outputs: dict[ir.Value, WrittenBuffer] = {
            each: WrittenBuffer(f"output {number}", tensors[each].reshape(-1), _nowhere(tensors[each].size))
            for number, each in enumerate(written)
        }
        return cls(kernel, tuple(grid), symbols, tensors, maps, outputs)

    def extent(self, dim: Dim) -> int:
        """An extent in numbers."""
        return sizes.extent_value(dim, self.symbols)

    def shape_of(self, value: ir.Value) -> tuple[int, ...]:
        """The shape of a tensor value in numbers."""
        return tuple(self.extent(dim) for dim in tensor_type(value.type).shape)

    def loaded(self, op: LoadTileOp) -> Array:
        """The whole value of which a statement takes a tile."""
        if op not in self._loaded:
            (self._loaded[op],) = self._evaluated(op)
        return self._loaded[op]

    def made(self, op: LoadFragmentOp, index: tuple[Array, ...], inside: Array, values: Array) -> Array:
        """The elements at an index of the value that a body computes of these of its argument; 0 where not `inside`."""
        shape = self.shape_of(op.source)
        access = elementwise_reads(op.loaded)[op.source]
        at = tuple(np.broadcast_to(evaluate_at(row, index, self.symbols), inside.shape) for row in access.map)
        argument = np.zeros(shape, values.dtype)
        argument[tuple(each[inside] for each in at)] = values[inside]
        (value,) = self._evaluated(op, argument)
        return np.where(inside, value[index], np.zeros((), value.dtype))

    def partial_sums_of(self, workspace: ir.Value) -> PartialSums:
        """Who has written the sums of a workspace."""
        if workspace not in self._partial_sums:
            events = np.full(self.tensors[workspace].shape, _OF_AN_EARLIER_LAUNCH, np.int64)
            self._partial_sums[workspace] = PartialSums(events)
        return self._partial_sums[workspace]

    # --- epilogues ----------------------------------------------------------------------------------------------------

    def finish(self, op: EpilogueSlabOp, index: tuple[Array, ...], values: Sequence[Array]) -> Array:
        """Take elements of the tensors that an epilogue goes on from; return their places in its result."""
        arguments: list[ir.BlockArgument] = list(op.body_block.arguments)
        types = [tensor_type(each.type).element for each in arguments]
        if op not in self._finished:
            self._finished[op] = [
                np.zeros(self.shape_of(each), element.dtype) for each, element in zip(arguments, types, strict=True)
            ]
        for tensor, element, taken in zip(self._finished[op], types, values, strict=True):
            tensor[index] = cast_array(taken, element, REFERENCE)
        return list(self._finished).index(op) * _ROOM + self._place(op, index)

    def _place(self, op: EpilogueSlabOp, index: tuple[Array, ...]) -> Array:
        """The row-major number, in the result, of the elements at an index of the accumulated tensor."""
        (output,), places = op.yields, op.places
        assert not isinstance(places, str)  # the statement's rule
        rows = [np.broadcast_to(evaluate_at(row, index, self.symbols), index[0].shape) for row in places[output.value]]
        return np.ravel_multi_index(rows, self.shape_of(output.value)) if rows else np.zeros(index[0].shape, np.int64)

    def write_outputs(self) -> None:
        """Run the bodies of the epilogues, and write what they give to where it belongs.

        Raises:
            KernelFault: an element has not been written.
        """
        for output in self.outputs.values():
            output.require_whole()
        for number, (op, arguments) in enumerate(self._finished.items()):
            (result,) = self._evaluated(op, *arguments)
            for output in self.outputs.values():
                mine = output.places // _ROOM == number
                output.memory[mine] = result.reshape(-1)[output.places[mine] % _ROOM]

    def _evaluated(self, op: ComputedTileOp | OutputOp, *arguments: Array) -> list[Array]:
        return evaluate_body(op.body_block, arguments, self.tensors, self.symbols)


def accumulators_of_zero(kind: ir.Type) -> Array:
    """An accumulator tile of zeros."""
    tile = accumulator_tile(kind)
    return np.zeros(tile.shape, tile.element.dtype)


def _buffer(op: StGlobalVecOp | TmaStoreOp) -> ir.Value:
    return op.buffer


def _nowhere(size: int) -> Array:
    return np.full(size, NOWHERE, np.int64)


def _tensor(buffer: ir.BlockArgument, memory: Array, symbols: dict[str, int]) -> Array:
    """A buffer's memory as the tensor that it holds."""
    held = region.held_tensor(buffer.type)
    return memory.view(held.element.dtype).reshape([sizes.extent_value(dim, symbols) for dim in held.shape])


def _array(given: Argument) -> Array:
    assert isinstance(given, np.ndarray)  # as the kernel's argument says
    return given


def _number(given: Argument) -> int:
    assert not isinstance(given, PlacedTensorMap)
    return int(given)
