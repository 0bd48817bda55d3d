"""`tgpu.scatter_add` for one thread: its share of the updates, each an atomic addition."""

from tinyc.codegen import scalars, scatter_update
from tinyc.codegen.elements import IndexValues
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.threads import comment
from tinyc.dialects.gpu.statements import AtomicAddOp, ScatterAddOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import extents
from tinyc.vocabulary.attributes import tensor_type


def expand(expansion: Expansion, op: ScatterAddOp) -> None:
    """Emit the loop over the updates, which are added to an output that holds the data already."""
    elements, scatter = expansion.elements, op.the(tiny.ScatterOp)
    (output,) = op.outputs.values()
    shape = tensor_type(scatter.updates.type).shape

    with expansion.threads.shared_in_grid(extents.product(shape)) as number:
        comment("scatter_add: one update for each thread at a time")
        index = elements.delinearized(number, shape)

        def add(target: IndexValues) -> None:
            stored = scalars.to_storage(elements.element_of(output), elements.at(scatter.updates, index))
            AtomicAddOp(stored, elements.buffers[output], elements.linear(output, target))

        scatter_update.at_target(elements, scatter, index, add)
