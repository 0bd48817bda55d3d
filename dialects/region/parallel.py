"""The outer loop of a kernel that its callers may split: over which axis it runs, and how often.

`region-to-loops` gives every kernel a half-open range [lo, hi) of that loop; `region-to-exec` states its trip count.
"""

from typing import Any

from tinyc.analysis.extents import Dim
from tinyc.dialects.region.ops import held_tensor
from tinyc.dialects.region.verify import ORDERED, block_of, outputs_of


def parallel_extent(kernel: Any) -> Dim:
    """Return the trip count of the parallel outer loop: the outputs' first extent, or 1 where nothing is parallel."""
    shape = held_tensor(outputs_of(kernel)[0].type).shape
    return shape[0] if splits_axis_0(kernel) else 1


def splits_axis_0(kernel: Any) -> bool:
    """Say whether the iterations over axis 0 of the outputs are independent of each other."""
    shape = held_tensor(outputs_of(kernel)[0].type).shape
    ordered = [op for op in block_of(kernel).operations if op.operation.name in ORDERED]
    return bool(shape) and all(op.operation.attributes["axis"].value != 0 for op in ordered)
