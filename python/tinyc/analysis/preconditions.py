"""What has to hold of a program's symbols before it may run: the one answer that every executor checks.

In: a Tiny function, or a host function with the kernels that it launches. Out: `Assumption`s: what is stated, and that
every extent of a value that is needed is a size; a host function makes every launch, needed or not. A kernel's values
are those of its body, or of the bodies of its statements where it has become a function on a GPU. No IR is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tinyc.analysis.assumption import Assumption, required
from tinyc.analysis.extents import Dim
from tinyc.analysis.graphs import YIELDS, is_tensor, needed_ops
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.verify import assumptions


def preconditions(function: Any, kernels: Mapping[str, Any]) -> list[Assumption]:
    """Return the relations in the order in which they are to be checked."""
    block = function.regions[0].blocks[0]
    launches = [op.operation for op in block.operations if op.operation.name == "region.launch"]
    dims = dict.fromkeys(_extents(block, list(block.operations) if launches else needed_ops(block)))
    for name in dict.fromkeys(launch.attributes["kernel"].value for launch in launches):
        for body in _bodies(kernels[name]):
            dims.update(dict.fromkeys(_extents(body, needed_ops(body))))
    return required(dims, assumptions(block))


def _bodies(op: Any) -> Iterator[Any]:
    """Yield the blocks inside `op` that compute values and yield them."""
    for block in (block for region in op.operation.regions for block in region.blocks):
        if any(inner.operation.name in YIELDS for inner in block.operations):
            yield block
        else:
            for inner in block.operations:
                yield from _bodies(inner)


def _extents(block: Any, ops: Sequence[Any]) -> Iterator[Dim]:
    """Yield the extents of a block's arguments and of what some ops make, and the bounds that cuts are made at."""
    values = [*block.arguments, *(result for op in ops for result in op.operation.results)]
    for value in values:
        if is_tensor(value.type):  # the tensor of a kernel's buffer is what it reads or yields
            yield from tensor_type(value.type).shape
    for op in ops:
        if op.operation.name == "tiny.shrink":
            bounds = arguments(op)
            yield from (*bounds["lo"], *bounds["hi"])
