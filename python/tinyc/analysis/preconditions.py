"""What has to hold of a program's symbols before it may run: the one answer that every executor checks.

In: a Tiny function, or a host function with the kernels that it launches. Out: `Assumption`s: what is stated, and that
every extent of a value that is needed is a size; a host function makes every launch, needed or not. No IR is changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tinyc.analysis.assumption import Assumption, required
from tinyc.analysis.extents import Dim
from tinyc.analysis.graphs import is_tensor, needed_ops
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.verify import assumptions


def preconditions(function: Any, kernels: Mapping[str, Any]) -> list[Assumption]:
    """Return the relations in the order in which they are to be checked."""
    block = function.regions[0].blocks[0]
    launches = [op.operation for op in block.operations if op.operation.name == "region.launch"]
    dims = dict.fromkeys(_extents(block, list(block.operations) if launches else needed_ops(block)))
    for name in dict.fromkeys(launch.attributes["kernel"].value for launch in launches):
        body = kernels[name].operation.regions[0].blocks[0]
        dims.update(dict.fromkeys(_extents(body, needed_ops(body))))
    return required(dims, assumptions(block))


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
