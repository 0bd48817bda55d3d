"""A kernel that is written of parts of another one: which ops that takes, and the new body with its buffers.

In: a `region.kernel`, which stays as it is, and values of it. Out: a `region.kernel` at the insertion point.
"""

from collections.abc import Iterable

from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.mlir.bodies import end_body
from tinyc.vocabulary.attributes import tensor_type, to_type
from tinyc.vocabulary.types import TensorType


def needed_for(kernel: Kernel, wanted: Iterable[ir.Value], given: Iterable[ir.Value] = ()) -> list[ir.OpView]:
    """The ops of a region that compute the values `wanted`, in order; `given` are there already."""
    read, known, needed = set(wanted), set(given), list[ir.OpView]()
    for op in reversed(kernel.body):
        if any(result in read and result not in known for result in op.results):
            read.update(op.operands)
            needed.append(op)
    return needed[::-1]


class KernelBody:
    """A new kernel that is written, from the inputs of another one: `local` has what the values of that are in it."""

    def __init__(self, kernel: Kernel, name: str, more: Iterable[ir.Value] = ()) -> None:
        buffers = [*kernel.inputs, *more]
        self.op = region.KernelOp(ir.StringAttr.get(name))
        locations = [each.location for each in buffers]
        self.block = self.op.body.blocks.append(*(each.type for each in buffers), arg_locs=locations)
        self.local: dict[ir.Value, ir.Value] = dict(zip(buffers, self.block.arguments, strict=True))

    def copy(self, op: ir.OpView) -> None:
        """Copy an op of the other kernel."""
        copy = op.clone(ir.InsertionPoint.current)
        for position, operand in enumerate(op.operands):
            copy.operands[position] = self.local[operand]
        self.local.update(zip(op.results, copy.results, strict=True))

    def read(self, tensor: TensorType) -> ir.Value:
        """Write the read of a new buffer, behind those that there are."""
        buffer = self.block.add_argument(region.memref_type(tensor), ir.Location.current)
        return region.ReadOp(buffer, to_type(tensor)).output

    def end(self, results: Iterable[tuple[ir.Value, ir.Location]]) -> None:
        """Write the yields of results to new buffers at their locations."""
        for value, location in list(results):
            buffer = self.block.add_argument(region.memref_type(tensor_type(value.type)), location)
            region.YieldOp(value, buffer, ir.StringAttr.get("gmem"))
        end_body()
        tiny.erase_unused(self.block)

    def drop_unread(self) -> list[int]:
        """Erase the buffers that are not read; return the numbers of those that stay."""
        for op in list(self.block.operations):
            if isinstance(op, region.ReadOp) and not list(op.output.uses):
                op.erase()
        used = [bool(list(each.uses)) for each in self.block.arguments]
        for position in reversed([place for place, is_used in enumerate(used) if not is_used]):
            self.block.erase_argument(position)
        return [place for place, is_used in enumerate(used) if is_used]
