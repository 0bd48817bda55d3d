"""A reduction of one result in lanes: partial accumulators that an innermost loop of known length runs over.

LLVM makes vectors of that loop, and reorders no sum: which terms a lane takes in, and how the lanes come together, is
what the code says, so that numbers are the same on every machine.
"""

from collections.abc import Callable

from tinyc.codegen import scalars
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.codegen.reduction_steps import accumulator_element, initial
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.expr.axes import Shape
from tinyc.expr.extents import Dim
from tinyc.mlir import func, ir, memref
from tinyc.mlir.locations import here
from tinyc.target import GENERIC_CPU

#: Four vectors of 16 f32: an addition does not wait for the one before.
_MOST_LANES = 64


def row_memory(size: int, element: ir.Type, name: str) -> ir.Value:
    """Emit memory for `size` elements where the function starts, so that no loop makes it anew; at a line of caches."""
    block = ir.InsertionPoint.current.block
    while not isinstance(block.owner, func.FuncOp):
        block = block.owner.operation.block
    with ir.InsertionPoint.at_block_begin(block):
        return memref.alloca(
            ir.MemRefType.get([size], element), [], [], alignment=GENERIC_CPU.line_bytes, loc=here(name)
        )


def reduce_alone(
    elements: Elements,
    op: tiny.ReduceOp,
    reduced: Shape,
    term: Callable[[IndexValues], ir.Value],
    mark: Callable[[ir.Value], None],
) -> ir.Value:
    """Emit the reduction of one result, and return its accumulator; `term` gives what it takes in.

    The index of each loop over lanes is shown to `mark`.
    """
    if not _has_lanes(op, reduced):

        def step(index: IndexValues, so_far: list[ir.Value]) -> list[ir.Value]:
            return [elements.combined(op, so_far[0], term(index))]

        (total,) = elements.carried(reduced, [initial(op)], step)
        return total
    *outer, innermost = reduced
    count = _lanes(innermost)
    lanes = row_memory(count, scalars.register_type(accumulator_element(op)), "lanes")
    whole = extents.floordiv(innermost, count) * count

    def take_in(lane: ir.Value, other: ir.Value) -> None:
        mark(lane)
        memref.store(elements.combined(op, memref.load(lanes, [lane]), other), lanes, [lane])

    with elements.loop(0, count) as lane:
        memref.store(initial(op), lanes, [lane])
    with elements.loops(outer) as before:
        with elements.loop(0, whole, count, below=innermost) as first, elements.loop(0, count) as lane:
            take_in(lane, term((*before, elements.moved(first, lane))))
        if whole != innermost:
            with elements.loop(0, innermost - whole, below=count) as lane:
                take_in(lane, term((*before, elements.moved(elements.extent(whole), lane))))
    width = count
    while width > 1:
        width //= 2
        with elements.loop(0, width) as lane:
            take_in(lane, memref.load(lanes, [elements.moved(lane, width)]))
    return memref.load(lanes, [elements.index(0)])


def _has_lanes(op: tiny.ReduceOp, reduced: Shape) -> bool:
    """Whether a reduction is in lanes: where the order of its terms matters, and there are enough of them."""
    if not reduced or not accumulator_element(op).is_float:
        return False
    return not isinstance(reduced[-1], int) or reduced[-1] >= GENERIC_CPU.fewest_lanes


def _lanes(extent: Dim) -> int:
    """The lanes of a row: a power of two, each takes in one element at least."""
    return min(1 << extent.bit_length() - 1, _MOST_LANES) if isinstance(extent, int) else _MOST_LANES
