"""What a caller has to know of a kernel besides its buffers: the same for the host that launches it and its loops.

`region-to-loops` gives a kernel these parameters, `region-to-exec` states them in the launch contract: a status buffer
where indices come from data, the symbols of its extents, and the half-open range [lo, hi) of the parallel outer loop.
"""

from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.dialects.region.ops import held_tensor
from tinyc.dialects.region.verify import ORDERED, block_of, outputs_of
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.types import TensorType, symbols_of

#: Ops whose indices come from data; their kernels get a status buffer.
CHECKED = ("tiny.gather", "tiny.scatter")


def is_checked(kernel: Any) -> bool:
    """Say whether a kernel takes a status buffer: whether it reads or writes where data says."""
    return any(op.operation.name in CHECKED for op in block_of(kernel).operations)


def symbols_in(kernel: Any) -> tuple[str, ...]:
    """Return the symbols that a kernel needs, in order: those of its buffers, then those that only its body has."""
    held = [held_tensor(argument.type) for argument in block_of(kernel).arguments]
    body = [op.operation for op in block_of(kernel).operations]
    inner = [tensor_type(result.type) for op in body for result in op.results]
    cuts = [arguments(op) for op in body if op.name == "tiny.shrink"]
    return symbols_of([*held, *inner, *(TensorType("i64", (*cut["lo"], *cut["hi"])) for cut in cuts)])


def parallel_extent(kernel: Any) -> Dim:
    """Return the trip count of the parallel outer loop: the outputs' first extent, or 1 where nothing is parallel."""
    shape = held_tensor(outputs_of(kernel)[0].type).shape
    return shape[0] if splits_axis_0(kernel) else 1


def splits_axis_0(kernel: Any) -> bool:
    """Say whether the iterations over axis 0 of the outputs are independent of each other."""
    shape = held_tensor(outputs_of(kernel)[0].type).shape
    ordered = [op for op in block_of(kernel).operations if op.operation.name in ORDERED]
    return bool(shape) and all(op.operation.attributes["axis"].value != 0 for op in ordered)
