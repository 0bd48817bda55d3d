"""`tgpu.map`, element by element; updates that set are put in order, over the data."""

from tinyc.dialects.cuda.main.reference.scatter_add import write_updates
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import MapOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.vocabulary.attributes import tensor_type


def compute(elements: FlatElements, op: MapOp) -> None:
    """Compute each element of the outputs by itself."""
    for each in op.yields:
        scatter = each.value.owner
        source = scatter.data if isinstance(scatter, tiny.ScatterOp) else each.value
        with elements.loops(tensor_type(each.value.type).shape) as index:
            elements.store(each.buffer, index, elements.at(source, index))
        if isinstance(scatter, tiny.ScatterOp):
            write_updates(elements, scatter, each.buffer)
