"""The naive contraction in code for one thread: tiles filled by all threads, sums of 2 × 2 elements in registers.

A block of `y × x` threads owns a tile of sums. It is covered by pieces of `2y × 2x` elements, and of each piece a
thread owns the 2 × 2 elements at (2 * y, 2 * x): its sums are the products of its rows and its columns, row-major.
"""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tinyc.analysis import extents
from tinyc.codegen import scalars
from tinyc.codegen.elements import Index
from tinyc.dialects.gpu.bodies import loaded_value, store
from tinyc.dialects.gpu.thread_elements import ThreadElements
from tinyc.dialects.gpu.threads import Threads, comment
from tinyc.dialects.region.verify import block_of, yields_of
from tinyc.dialects.tiny.attributes import decode, tensor_type
from tinyc.dialects.tiny.types import TensorType, is_float
from tinyc.mlir import arith, math, memref, scf
from tinyc.plan.validate_tile import MICRO


def static_shape(tile: TensorType) -> tuple[int, int]:
    """Return the rows and columns of a tile."""
    rows, columns = (extent for extent in tile.shape if isinstance(extent, int))
    return rows, columns


@dataclass(frozen=True)
class Ring:
    """A ring of row-major tiles in shared memory, one after the other."""

    memory: Any
    tile: TensorType

    @property
    def shape(self) -> tuple[int, int]:
        """The rows and columns of a tile."""
        return static_shape(self.tile)

    def linear(self, elements: ThreadElements, slot: Any, number: Any) -> Any:
        """Return where element `number` of the tile in `slot` stands."""
        rows, columns = self.shape
        return arith.addi(arith.muli(slot, elements.index(rows * columns)), number)

    def load(self, elements: ThreadElements, slot: Any, row: Any, column: Any) -> Any:
        """Return an element in its register type."""
        number = arith.addi(arith.muli(row, elements.index(self.shape[1])), column)
        return scalars.from_storage(self.tile.element, memref.load(self.memory, [self.linear(elements, slot, number)]))

    def stored(self, value: Any) -> Any:
        """Return a register value as the ring stores it."""
        return scalars.to_storage(self.tile.element, value)

    def store(self, elements: ThreadElements, slot: Any, number: Any, stored: Any) -> None:
        """Write element `number` of the tile in `slot`."""
        memref.store(stored, self.memory, [self.linear(elements, slot, number)])


@dataclass(frozen=True)
class Place:
    """Where a tile stands in a tensor: which axes are its rows and columns, from where on, and in which batch."""

    shape: tuple[Any, ...]
    axes: dict[str, tuple[int, ...]]
    guarded: frozenset[str]
    batch: Any
    row: Any
    column: Any

    @classmethod
    def of(cls, op: Any, tensor: TensorType, batch: Any, row: Any, column: Any) -> "Place":
        """Return the place that the attributes of a statement give."""
        attributes = op.operation.attributes
        axes = {side: decode(attributes[side]) for side in ("rows", "columns", "batches")}
        guarded = frozenset(side.value for side in attributes["guarded"])
        return cls(tensor.shape, axes, guarded, batch, row, column)

    def inside(self, elements: ThreadElements, side: str, position: Any) -> Any | None:
        """Return whether a row or column is one of the tensor's, or None where it is known to be."""
        if side not in self.guarded:
            return None
        return elements.within(position, extents.product(self.shape[axis] for axis in self.axes[side]))

    def index(self, elements: ThreadElements, row: Any, column: Any) -> Index:
        """Return the tensor's index of the element in a row and a column."""
        parts = (("batches", self.batch), ("rows", row), ("columns", column))
        return elements.taken_apart(self.shape, [(self.axes[side], number) for side, number in parts])


def load_tile(elements: ThreadElements, threads: Threads, op: Any, ring: Ring, slot: Any, at: Sequence[Any]) -> None:
    """Fill the tile in `slot`: the threads share its elements; `at` is the batch, the row and the column of it."""
    value = loaded_value(op)
    place = Place.of(op, tensor_type(value.type), *at)
    rows, columns = ring.shape
    with threads.shared_in_block(rows * columns) as number:
        comment(f"load_tile: {rows} x {columns} elements, shared by {threads.count} threads")
        row, column = elements.delinearized(number, ring.shape)
        row, column = arith.addi(place.row, row), arith.addi(place.column, column)

        def inside() -> Any:
            return ring.stored(elements.at(value, place.index(elements, row, column)))

        ring.store(elements, slot, number, _inside_or_zero(elements, place, (row, column), ring, inside))


def _inside_or_zero(
    elements: ThreadElements, place: Place, at: tuple[Any, Any], ring: Ring, inside: Callable[[], Any]
) -> Any:
    """Return what `inside` does where a row and a column are the tensor's, else zero."""
    sides = [place.inside(elements, side, position) for side, position in zip(("rows", "columns"), at, strict=True)]
    conditions = [condition for condition in sides if condition is not None]
    if not conditions:
        return inside()
    condition = conditions[0] if len(conditions) == 1 else arith.andi(*conditions)
    zero = functools.partial(scalars.constant, ring.tile.element, 0)
    return elements.choose(condition, ring.memory.type.element_type, inside, lambda: ring.stored(zero()))


def fma(
    elements: ThreadElements, threads: Threads, tiles: tuple[Ring, Ring], slot: Any, sums: list[Any], element: str
) -> list[Any]:
    """Add the product of the tiles in `slot` to the thread's sums, which are of type `element`."""
    lhs, rhs = tiles
    (rows, depth), (_, columns) = lhs.shape, rhs.shape
    own_rows = _owned(elements, threads.y, threads.block_size[1], rows)
    own_columns = _owned(elements, threads.x, threads.block_size[0], columns)

    def step(index: Index, so_far: list[Any]) -> list[Any]:
        (k,) = index
        comment(f"fma: {len(own_rows)} x {len(own_columns)} sums of {rows} x {columns}")
        left = [scalars.cast(lhs.load(elements, slot, row, k), lhs.tile.element, element) for row in own_rows]
        right = [scalars.cast(rhs.load(elements, slot, k, at), rhs.tile.element, element) for at in own_columns]
        pairs = itertools.product(left, right)
        return [multiply_add(element, *pair, total) for pair, total in zip(pairs, so_far, strict=True)]

    return elements.carried([depth], sums, step)


def _owned(elements: ThreadElements, thread: Any, threads: int, extent: int) -> list[Any]:
    """Return the rows or columns of a tile that a thread owns."""
    first = arith.muli(thread, elements.index(MICRO))
    pieces = range(0, extent, MICRO * threads)
    offsets = [piece + near for piece in pieces for near in range(MICRO)]
    return [first if offset == 0 else arith.addi(first, elements.index(offset)) for offset in offsets]


def multiply_add(element: str, left: Any, right: Any, total: Any) -> Any:
    """Return ``left * right + total``, in one rounding where the type is a float."""
    return math.fma(left, right, total) if is_float(element) else arith.addi(arith.muli(left, right), total)


def epilogue(
    elements: ThreadElements, threads: Threads, op: Any, tile: TensorType, sums: list[Any], at: Sequence[Any]
) -> None:
    """Compute and store what the region makes of each of the thread's sums; `at` is as in `load_tile`."""
    (argument,) = block_of(op).arguments
    result = tensor_type(argument.type)
    place = Place.of(op, result, *at)
    own = zip((threads.y, threads.x), reversed(threads.block_size[:2]), static_shape(tile), strict=True)
    own_rows, own_columns = (_owned(elements, *each) for each in own)
    rows = [arith.addi(place.row, row) for row in own_rows]
    columns = [arith.addi(place.column, column) for column in own_columns]
    sum_of = dict(zip(itertools.product(rows, columns), sums, strict=True))
    conditions = [place.inside(elements, "columns", column) for column in columns]
    for number, row in enumerate(rows):
        with _where(elements, place.inside(elements, "rows", row), f"epilogue: row {number} of {len(rows)}"):
            for column, condition in zip(columns, conditions, strict=True):
                with _where(elements, condition):
                    finished = scalars.cast(sum_of[row, column], tile.element, result.element)
                    elements.reduced[argument] = lambda _, value=finished: value
                    store(elements, yields_of(op), place.index(elements, row, column))


@contextlib.contextmanager
def _where(elements: ThreadElements, condition: Any | None, what: str | None = None) -> Iterator[None]:
    """Emit what follows under a condition, if there is one; `what` is a comment."""
    if condition is None:
        yield
        return
    branch = scf.IfOp(condition)
    with elements.block(branch.then_block):
        if what is not None:
            comment(what)
        yield
        scf.yield_([])
