"""Images that a step holds: each place is computed once, with what pads it, and windows read it from there.

Along the last side places lie as far apart as neighbouring columns are, so that these read neighbours: of a stride of 2
the even places of a row, then the odd ones.
"""

import math

from tinyc.analysis.cpu_steps import CpuSteps
from tinyc.analysis.held_image import HeldImage, ImageSide
from tinyc.codegen import scalars
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.region.to_loops.axis_values import index_at
from tinyc.dialects.region.to_loops.lanes import row_memory
from tinyc.dialects.region.to_loops.loop_elements import LoopElements
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.axes import AxisExpr, constant
from tinyc.mlir import ir, memref
from tinyc.vocabulary.attributes import tensor_type


def hold_image(elements: LoopElements, steps: CpuSteps, image: HeldImage, at: IndexValues) -> None:
    """Compute the image at the indices of the loops around it; from here on windows read it."""
    op = steps.kernel.value(image.phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what has windows
    counters, shape = elements.counters, image.shape
    *outer, last = image.sides
    memory = row_memory(math.prod(shape), scalars.register_type(tensor_type(image.value.type).element), "image")
    first = index_at(elements, op.operand, steps.kernel.dims, dict(zip(image.phase.loops, at, strict=False)))

    def place(side: ImageSide, index: IndexValues) -> AxisExpr:
        column, product = counters.expression(index[side.column]), counters.expression(index[side.product])
        return column * side.stride + product * side.step

    def slot(index: IndexValues) -> list[ir.Value]:
        before = [place(side, index) for side in outer]
        number, row = counters.divided(place(last, index), last.stride)
        return [counters.value(counters.linear((*before, row, number), shape))]

    def fill(before: IndexValues, number: AxisExpr, row: int) -> None:
        index = list(first)
        for side, position in zip(outer, before, strict=True):
            index[side.walked] = position
        index[last.walked] = counters.value(number * last.stride + row)
        memref.store(elements.at(image.value, tuple(index)), memory, slot(tuple(index)))

    whole, rest = divmod(last.places, last.stride)
    with elements.loops([side.places for side in outer]) as before:
        with elements.loop(0, whole) as number:
            for row in range(last.stride):
                fill(before, counters.expression(number), row)
        for row in range(rest):
            fill(before, constant(whole), row)
    elements.held[image.value] = lambda index: memref.load(memory, slot(index))
