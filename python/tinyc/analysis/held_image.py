"""What windows read of an operand: an image, which a step holds, so that no term asks whether it is inside.

In: the phase of a reduction over small windows. Out: `HeldImage`s, of operands that are padded or whose windows are at
a stride. Every place is computed once, with what pads it, before the loops over the columns of the windows.
"""

import math
from dataclasses import dataclass

from tinyc.analysis.elementwise_reads import ElementIndices, element_indices
from tinyc.analysis.kernel_loops import KernelLoops, whole_dimensions
from tinyc.analysis.patterns.contraction import summed_factors
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type

#: An image is worth its memory if a place is read by as many windows, as a mean: of windows at a stride, and of others,
#: which read neighbours in memory, and of which those at the edges ask alone. Measured on an AMD EPYC of family 25 with
#: one thread: 3 × 3 at a stride of 2 take 0.77 to 0.82 of the time, 5 × 5 0.58 to 0.67, and 3 × 3 without a stride 1.03
#: to 1.07.
_FEWEST_AT_A_STRIDE, _FEWEST_BESIDE_EACH_OTHER = 2, 16


@dataclass(frozen=True)
class ImageSide:
    """The `places` along an axis: the window of a column reads that at `stride * column + step * product`.

    `column` and `product` are dimensions of the operand of the reduction.
    """

    column: int
    product: int
    stride: int
    step: int
    places: int

    @property
    def walked(self) -> int:
        """The dimension along which one step is the next place, with the other one at 0."""
        return self.column if self.stride == 1 else self.product


@dataclass(frozen=True)
class HeldImage:
    """The image of `value`, an operand of what `phase` sums up, with its `sides`, outermost first.

    The leading `loops` of the phase are around it. Along the last side places are apart in as many rows as the stride
    is long, so that neighbouring columns read neighbours.
    """

    phase: Phase
    value: ir.Value
    loops: int
    sides: tuple[ImageSide, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The places in memory: along the sides but the last, then the rows of that one, and the places of a row."""
        *outer, last = self.sides
        return (*(side.places for side in outer), last.stride, -(-last.places // last.stride))

    @property
    def size_bytes(self) -> int:
        """What it takes of the memory of a step."""
        return math.prod(self.shape) * tensor_type(self.value.type).element.accumulator.size_bytes


def held_images(kernel: KernelLoops, phase: Phase) -> list[HeldImage]:
    """The images of the operands of a reduction that are worth to be held."""
    op = kernel.value(phase).owner
    assert isinstance(op, tiny.ReduceOp)  # what reduces
    images = (_image(kernel, phase, op.operand, value) for value in summed_factors(op))
    return [image for image in images if image is not None]


def _image(kernel: KernelLoops, phase: Phase, summed: ir.Value, value: ir.Value) -> HeldImage | None:
    """The image of an operand; None where windows have none, or are as fast without."""
    reads = element_indices(value)
    sides = () if reads is None else _sides(kernel, phase, summed, reads)
    if reads is None or not sides:
        return None
    columns, dimensions = {side.column for side in sides}, _dimensions(kernel, summed)
    loops = [dimensions[axis] for axis in phase.loops]
    around = min((place for place, dimension in enumerate(loops) if dimension in columns), default=len(loops))
    within = {dimensions[axis] for axis in (*phase.loops[around:], *phase.inner)}
    if reads.dimensions & (within - columns):
        return None
    terms = math.prod(each for each in phase.reduced_extents if isinstance(each, int))
    windows, is_strided = terms / math.prod(side.stride for side in sides), sides[-1].stride > 1
    fewest = _FEWEST_AT_A_STRIDE if is_strided else _FEWEST_BESIDE_EACH_OTHER
    is_better = windows >= fewest and (is_strided or reads.has_guards)
    return HeldImage(phase, value, around, sides) if is_better else None


def _sides(kernel: KernelLoops, phase: Phase, summed: ir.Value, reads: ElementIndices) -> tuple[ImageSide, ...]:
    """The sides of an image, of windows all axes of which go along one of its own; none of others."""
    whole, shape = whole_dimensions(kernel, summed), phase.block.statement.shape
    kept = [axis for axis in (*phase.loops, *phase.inner) if axis in whole]
    found: dict[int, ImageSide] = {}
    for axis in phase.reduced:
        strides = {column: reads.strides(whole[column], whole[axis]) for column in kept} if axis in whole else {}
        along = [(column, *pairs) for column, pairs in strides.items() if len(pairs) == 1]
        if len(along) != 1:
            return ()
        ((column, (stride, step)),) = along
        columns, products = shape[column], shape[axis]
        if column in found or min(stride, step) > 1 or not isinstance(columns, int) or not isinstance(products, int):
            return ()
        places = (columns - 1) * stride + (products - 1) * step + 1
        found[column] = ImageSide(whole[column], whole[axis], stride, step, places)
    return tuple(found[column] for column in sorted(found))


def _dimensions(kernel: KernelLoops, value: ir.Value) -> list[int]:
    """The dimension that each axis is a part of, or the whole."""
    return [dimension for dimension, parts in enumerate(kernel.dims(value)) for _ in parts]
