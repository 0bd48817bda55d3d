"""`tgpu.scatter_add`, update by update."""

from tinyc.codegen import scatter_update
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import ScatterAddOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


def compute(elements: FlatElements, op: ScatterAddOp) -> None:
    """Add the updates to an output that holds the data already."""
    (output,) = op.outputs.values()
    write_updates(elements, op.the(tiny.ScatterOp), output)


def write_updates(elements: FlatElements, scatter: tiny.ScatterOp, output: ir.Value) -> None:
    """Put or add the updates of a scatter in order."""
    with elements.loops(tensor_type(scatter.updates.type).shape) as index:
        scatter_update.write_scatter(elements, scatter, index, output)
