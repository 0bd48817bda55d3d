"""Loop nests of a kernel: pointwise, reduction, scatter and top-k.

Each nest covers the outputs' elements once. `low` and `high` bound the parallel outer loop (see `contract`).
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, Index, initial, joined, reduced_shape
from tinyc.dialects.region.contract import splits_axis_0
from tinyc.dialects.region.verify import yields_of
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.infer import ELEMENTWISE
from tinyc.dialects.tiny.types import is_float
from tinyc.mlir import arith, ir, memref, scf

#: Accumulators that a reduction keeps at a time: neighbours along the innermost output axis, so that the loop over
#: them is the innermost one and vectorises without reordering any sum.
TILE = 128

_ELEMENTWISE = frozenset(f"tiny.{name}" for name in ELEMENTWISE)


def pointwise(elements: Elements, kernel: Any, low: Any, high: Any) -> None:
    """Compute each output element by itself."""
    for yielding in yields_of(kernel):
        value, output = yielding.operation.operands
        with ExitStack() as stack:
            index = _outer(elements, stack, tensor_type(value.type).shape, low, high)
            elements.store(output, index, elements.at(value, index))


def _outer(elements: Elements, stack: ExitStack, shape: tuple[Dim, ...], low: Any, high: Any) -> Index:
    """Open the loops over `shape`, the first from `low` below `high`; a scalar is computed once in that range."""
    first = stack.enter_context(elements.loop(low, high))
    if not shape:
        return ()
    return (first, *stack.enter_context(elements.loops(shape[1:])))


def tiled_reduction(kernel: Any) -> Any | None:
    """Return the reduction that the kernel's one output reads element by element, if it is of that form."""
    yields = yields_of(kernel)
    found = [op for op in kernel.operation.regions[0].blocks[0].operations if op.operation.name == "tiny.reduce"]
    if len(yields) != 1 or len(found) != 1:
        return None
    (reduction,) = found
    pending, seen = [reduction.operation.results[0]], set()
    while pending:
        readers = {use.owner.operation for use in pending.pop().uses} - seen
        if any(op.name != "region.yield" and op.name not in _ELEMENTWISE for op in readers):
            return None  # it is read at other indices than the output's
        seen |= readers
        pending += [op.results[0] for op in readers if op.name in _ELEMENTWISE]
    return reduction


def reduction(elements: Elements, kernel: Any, op: Any, low: Any, high: Any) -> None:
    """Accumulate a tile of neighbouring elements along the innermost output axis, then finish and store each."""
    (yielding,) = yields_of(kernel)
    value, output = yielding.operation.operands
    shape = tensor_type(value.type).shape
    accumulators = elements.accumulators(op, TILE if shape else 1)
    with ExitStack() as stack:
        outer, (start, end) = _outer_of_tile(elements, stack, shape, low, high)
        tile = stack.enter_context(elements.loop(start, end, TILE))
        count = arith.minsi(elements.index(TILE), arith.subi(end, tile))

        def at(lane: Any) -> Index:
            return (*outer, arith.addi(tile, lane)) if shape else ()

        with elements.loop(elements.index(0), count) as lane:
            memref.store(initial(op), accumulators, [lane])
        with elements.loops(reduced_shape(op)) as reduced, elements.loop(elements.index(0), count) as lane:
            so_far = memref.load(accumulators, [lane])
            memref.store(elements.combined(op, so_far, joined(op, at(lane), reduced)), accumulators, [lane])
        with elements.loop(elements.index(0), count) as lane:
            elements.reduced[op.operation.results[0]] = lambda _: elements.finished(
                op, memref.load(accumulators, [lane])
            )
            index = at(lane)
            elements.store(output, index, elements.at(value, index))


def _outer_of_tile(
    elements: Elements, stack: ExitStack, shape: tuple[Dim, ...], low: Any, high: Any
) -> tuple[Index, tuple[Any, Any]]:
    """Open the loops around the tile; return their indices and the range that the tiles cover."""
    if len(shape) <= 1:
        return (), (low, high)
    outer = _outer(elements, stack, shape[:-1], low, high)
    return outer, (elements.index(0), elements.extent(shape[-1]))


def scatter(elements: Elements, kernel: Any, op: Any, low: Any, high: Any) -> None:
    """Copy the data, then put or add the updates in row-major order."""
    data, positions, updates = op.operation.operands
    (yielding,) = yields_of(kernel)
    output = yielding.operation.operands[1]
    axis, add = arguments(op)["axis"], arguments(op)["op"] == "add"
    rank, source = tensor_type(positions.type).rank, tensor_type(data.type)
    with ExitStack() as stack:
        index = _ordered(elements, stack, source.shape, splits_axis_0(kernel), low, high)
        elements.store(output, index, elements.at(data, index))
    with ExitStack() as stack:
        index = _ordered(elements, stack, tensor_type(updates.type).shape, splits_axis_0(kernel), low, high)
        chosen, inside = elements.selected(positions, index[axis : axis + rank], source.shape[axis])
        branch = scf.IfOp(inside, has_else=True)
        with elements.block(branch.then_block):
            target = (*index[:axis], chosen, *index[axis + rank :])
            update = elements.at(updates, index)
            if add:
                update = scalars.elementwise("add", source.element, [elements.load(output, target), update])
            elements.store(output, target, update)
            scf.yield_([])
        with elements.block(branch.else_block):
            elements.report_out_of_range(chosen)
            scf.yield_([])


def _ordered(elements: Elements, stack: ExitStack, shape: tuple[Dim, ...], split: bool, low: Any, high: Any) -> Index:
    """Open the loops over `shape`: split over axis 0, or all in one turn of the outer loop."""
    if split:
        return _outer(elements, stack, shape, low, high)
    stack.enter_context(elements.loop(low, high))
    return stack.enter_context(elements.loops(shape))


def topk(elements: Elements, kernel: Any, op: Any, low: Any, high: Any) -> None:
    """For each rank t < k, find the best element that comes after the one chosen before it."""
    (source,) = op.operation.operands
    values = arguments(op)
    axis, tensor = values["axis"], tensor_type(source.type)
    lanes = (*tensor.shape[:axis], *tensor.shape[axis + 1 :])
    order = _Order(tensor.element, values["largest"])
    outputs = {y.operation.operands[0]: y.operation.operands[1] for y in yields_of(kernel)}
    with ExitStack() as stack:
        lane = _ordered(elements, stack, lanes, splits_axis_0(kernel), low, high)

        def at(position: Any) -> Index:
            return (*lane[:axis], position, *lane[axis:])

        nothing = [scalars.number(0, scalars.register_type(tensor.element)), elements.index(-1)]
        ranks = scf.ForOp(elements.index(0), elements.index(values["k"]), elements.index(1), nothing)
        with elements.block(ranks.body):
            best = _next_best(
                elements, order, tensor.shape[axis], ranks.inner_iter_args, lambda p: elements.at(source, at(p))
            )
            for result, buffer in outputs.items():
                is_value = result == op.operation.results[0]
                chosen = best[0] if is_value else arith.index_cast(ir.IntegerType.get_signless(64), best[1])
                elements.store(buffer, at(ranks.induction_variable), chosen)
            scf.yield_(best)


def _next_best(
    elements: Elements, order: "_Order", extent: Dim, previous: Any, read: Callable[[Any], Any]
) -> list[Any]:
    """Return (value, position) of the best element after `previous`, whose position is -1 where there is none yet."""
    nothing = [previous[0], elements.index(-1)]
    scan = scf.ForOp(elements.index(0), elements.extent(extent), elements.index(1), nothing)
    with elements.block(scan.body):
        best, position = scan.inner_iter_args, scan.induction_variable
        value = read(position)
        open_ = arith.ori(_is_none(elements, previous[1]), order.before(*previous, value, position))
        better = arith.ori(_is_none(elements, best[1]), order.before(value, position, *best))
        take = arith.andi(open_, better)
        scf.yield_([arith.select(take, value, best[0]), arith.select(take, position, best[1])])
    return list(scan.results)


def _is_none(elements: Elements, position: Any) -> Any:
    return arith.cmpi(arith.CmpIPredicate.slt, position, elements.index(0))


class _Order:
    """The order of top-k: by value, NaN the greatest, equal values by position."""

    def __init__(self, element: str, largest: bool) -> None:
        self.element, self.largest = element, largest

    def before(self, value: Any, position: Any, other: Any, other_position: Any) -> Any:
        """Return whether (value, position) comes strictly before (other, other_position)."""
        low, high = (other, value) if self.largest else (value, other)
        ahead, equal = self._less(low, high), scalars.elementwise("cmp_eq", self.element, [value, other])
        if is_float(self.element):
            equal = arith.ori(equal, arith.andi(self._is_nan(value), self._is_nan(other)))
        earlier = arith.cmpi(arith.CmpIPredicate.slt, position, other_position)
        return arith.ori(ahead, arith.andi(equal, earlier))

    def _less(self, low: Any, high: Any) -> Any:
        less = scalars.elementwise("cmp_lt", self.element, [low, high])
        if not is_float(self.element):
            return less
        is_number = arith.cmpf(arith.CmpFPredicate.ORD, low, low)
        return arith.ori(less, arith.andi(is_number, self._is_nan(high)))

    @staticmethod
    def _is_nan(value: Any) -> Any:
        return arith.cmpf(arith.CmpFPredicate.UNO, value, value)
