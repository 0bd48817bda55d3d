"""`tgpu.map` for one thread: its share of the elements of the outputs."""

import itertools

from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import MapOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: MapOp) -> None:
    """Emit a loop for the outputs of each shape, which are computed together; then check the positions of a scatter."""
    elements, threads = expansion.elements, expansion.threads
    for shape, yields in itertools.groupby(op.yields, lambda each: tensor_type(each.value.type).shape):
        with threads.shared_in_grid(extents.product(shape)) as number:
            comment("map: one element for each thread at a time")
            elements.store_outputs(yields, elements.delinearized(number, shape))
    for scatter in op.inner:
        if isinstance(scatter, tiny.ScatterOp):
            _check_positions(expansion, scatter)


def _check_positions(expansion: Expansion, scatter: tiny.ScatterOp) -> None:
    """Report the positions of a scatter that are out of range, also where there is no element to compute."""
    elements, shape = expansion.elements, tensor_type(scatter.updates.type).shape
    with expansion.threads.shared_in_grid(extents.product(shape)) as number:
        comment("scatter: one update's position for each thread at a time")
        elements.check_positions(scatter, elements.delinearized(number, shape))
