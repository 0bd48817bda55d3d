"""Code for the best k elements along one row of a `tiny.topk`, in order, in O(n log k).

The first k elements are made a heap whose root is the last of them in the order; each later element that comes before
the root takes its place; in the end the heap is sorted. The heap holds positions and lies where the indices are written
to: it needs no memory of its own.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.mlir import arith, ir, scf
from tinyc.mlir.constants import number
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType


def write_topk(
    elements: Elements, op: tiny.TopkOp, row: IndexValues, outputs: Mapping[ir.Value, ir.Value], block: int = 1
) -> None:
    """Write the best elements of a row to the buffers of the results, of which that of the indices is one.

    A `block` of elements is compared with the root at once, for vectors to do it, and passed over if none is better.
    """
    k = op.k.value
    if k == 0:
        return
    heap = _Heap(elements, op, row, outputs[op.indices])
    first, size = elements.index(0), elements.index(k)
    with elements.loop(0, k) as place:
        heap.keep(place, place)
    with elements.loop(0, k // 2) as turn:
        parent = elements.mirrored(turn, k // 2)
        heap.sift(parent, heap.kept(parent), size)
    _take_later(elements, heap, k, block)
    with elements.loop(0, k - 1) as turn:
        end = elements.mirrored(turn, k)
        moving = heap.kept(end)
        heap.keep(end, heap.kept(first).position)
        heap.sift(first, moving, end)
    if op.values in outputs:
        with elements.loop(0, k) as rank:
            elements.store(outputs[op.values], heap.at(rank), heap.kept(rank).value)


def _take_later(elements: Elements, heap: "_Heap", k: int, block: int) -> None:
    """Look at the elements after the first k; the root is carried along, since most are only compared with it."""
    root, later = elements.index(0), heap.extent - k

    def look(position: ir.Value, worst: list[ir.Value]) -> list[ir.Value]:
        """Take in the element at a position, if it is better."""
        candidate = heap.candidate(position)

        def taken() -> list[ir.Value]:
            heap.sift(root, candidate, elements.index(k))
            return [*heap.kept(root)]

        return _either(elements, heap.order.ahead(candidate, _Candidate(*worst)), taken, worst)

    def look_at_block(index: IndexValues, worst: list[ir.Value]) -> list[ir.Value]:
        first = elements.counters.value(elements.counters.expression(index[0]) * block + k)

        def is_better(near: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
            candidate = heap.candidate(elements.moved(first, near[0]))
            return [arith.ori(so_far[0], heap.order.ahead(candidate, _Candidate(*worst)))]

        (has_better,) = elements.carried([block], [number(0, ir.IntegerType.get_signless(1))], is_better)

        def taken() -> list[ir.Value]:
            return elements.carried([block], worst, lambda near, so_far: look(elements.moved(first, near[0]), so_far))

        return _either(elements, has_better, taken, worst)

    worst, passed = list(heap.kept(root)), 0
    if block > 1:
        blocks = extents.floordiv(later, block)
        worst, passed = elements.carried([blocks], worst, look_at_block), blocks * block
    start = elements.extent(passed + k)
    elements.carried([later - passed], worst, lambda index, so_far: look(elements.moved(start, index[0]), so_far))


def _either(
    elements: Elements, condition: ir.Value, taken: Callable[[], list[ir.Value]], otherwise: list[ir.Value]
) -> list[ir.Value]:
    """Emit what is `taken` if a condition holds; the values otherwise."""
    branch = scf.IfOp(condition, [each.type for each in otherwise], has_else=True)
    with elements.block(branch.then_block):
        scf.yield_(taken())
    assert branch.else_block is not None  # asked for above
    with elements.block(branch.else_block):
        scf.yield_(otherwise)
    return list(branch.results)


class _Candidate(NamedTuple):
    """An element of the row."""

    value: ir.Value
    position: ir.Value


class _Heap:
    """The best elements so far of one row, by their positions in the buffer `indices`: parents come after children."""

    def __init__(self, elements: Elements, op: tiny.TopkOp, row: IndexValues, indices: ir.Value) -> None:
        self.elements, self.op, self.row, self.indices = elements, op, row, indices
        tensor = tensor_type(op.operand.type)
        self.extent, self.order = tensor.shape[op.axis.value], _Order(tensor.element, op.largest.value)

    def at(self, along: ir.Value) -> IndexValues:
        """The index, in the operand or a result, of what is in the row at `along`."""
        axis = self.op.axis.value
        return (*self.row[:axis], along, *self.row[axis:])

    def candidate(self, position: ir.Value) -> _Candidate:
        """The element of the row at a position."""
        return _Candidate(self.elements.at(self.op.operand, self.at(position)), position)

    def kept(self, place: ir.Value) -> _Candidate:
        """The element at a place of the heap."""
        stored = self.elements.load(self.indices, self.at(place))
        return self.candidate(arith.index_cast(ir.IndexType.get(), stored))

    def keep(self, place: ir.Value, position: ir.Value) -> None:
        """Put the element at `position` of the row to a place of the heap."""
        i64 = ir.IntegerType.get_signless(64)
        self.elements.store(self.indices, self.at(place), arith.index_cast(i64, position))

    def sift(self, hole: ir.Value, moving: _Candidate, size: ir.Value) -> None:
        """Fill the `hole` of a heap of `size` elements with `moving` or, if that comes before it, with a child's.

        The turns of the loop are as many as a heap of k elements has levels below its root, for code on a GPU has loops
        of known length; one that fills the hole with `moving` leaves nothing to do for those after it.
        """
        one = self.elements.index(1)

        def descend(_: IndexValues, carried: list[ir.Value]) -> list[ir.Value]:
            (place,) = carried
            left = arith.addi(arith.addi(place, place), one)

            def below() -> ir.Value:
                right = arith.minsi(arith.addi(left, one), arith.subi(size, one))
                child, other = self.kept(left), self.kept(right)
                other_is_last = self.order.before(child, other)
                last = _Candidate(*(arith.select(other_is_last, *pair) for pair in zip(other, child, strict=True)))
                from_place = arith.select(other_is_last, right, left)
                rises = self.order.before(moving, last)
                self.keep(place, arith.select(rises, last.position, moving.position))
                return arith.select(rises, from_place, place)

            has_child = arith.cmpi(arith.CmpIPredicate.slt, left, size)
            return [self.elements.choose(has_child, ir.IndexType.get(), below, lambda: place)]

        levels = self.op.k.value.bit_length() - 1
        (place,) = self.elements.carried([levels], [hole], descend)
        self.keep(place, moving.position)


class _Order:
    """The order of top-k: by value, NaN the greatest, equal values by position."""

    def __init__(self, element: ElementType, largest: bool) -> None:
        self.element, self.largest = element, largest

    def before(self, one: _Candidate, other: _Candidate) -> ir.Value:
        """Whether `one` comes strictly before `other`."""
        low, high = self._in_order(one, other)
        ahead, equal = self.ahead(one, other), scalars.elementwise("cmp_eq", self.element, [low, high])
        if self.element.is_float:
            equal = arith.ori(equal, arith.andi(self._is_nan(low), self._is_nan(high)))
        earlier = arith.cmpi(arith.CmpIPredicate.slt, one.position, other.position)
        return arith.ori(ahead, arith.andi(equal, earlier))

    def ahead(self, one: _Candidate, other: _Candidate) -> ir.Value:
        """Whether the value of `one` comes strictly before that of `other`."""
        return self._less(*self._in_order(one, other))

    def _in_order(self, one: _Candidate, other: _Candidate) -> tuple[ir.Value, ir.Value]:
        """The values of both, the first of which is the less where `one` comes before `other`."""
        return (other.value, one.value) if self.largest else (one.value, other.value)

    def _less(self, low: ir.Value, high: ir.Value) -> ir.Value:
        less = scalars.elementwise("cmp_lt", self.element, [low, high])
        if not self.element.is_float:
            return less
        is_number = arith.cmpf(arith.CmpFPredicate.ORD, low, low)
        return arith.ori(less, arith.andi(is_number, self._is_nan(high)))

    @staticmethod
    def _is_nan(value: ir.Value) -> ir.Value:
        return arith.cmpf(arith.CmpFPredicate.UNO, value, value)
