"""Kernels whose one output reads one reduction element by element: what is reduced can be finished in registers.

In: a `region.kernel`. Out: its reduction, or None. Loops on the CPU keep a tile of its accumulators, a GPU kernel of a
contraction does, and what stands between the reduction and the output is their epilogue.
"""

from typing import Any

from tinyc.analysis.tiny_ops import is_elementwise
from tinyc.dialects.region.verify import block_of, yields_of


def tiled_reduction(kernel: Any) -> Any | None:
    """Return the reduction that the kernel's one output reads element by element, if it is of that form."""
    yields = yields_of(kernel)
    found = [op for op in block_of(kernel).operations if op.operation.name == "tiny.reduce"]
    if len(yields) != 1 or len(found) != 1:
        return None
    (reduction,) = found
    pending, seen = [reduction.operation.results[0]], set()
    while pending:
        readers = {use.owner.operation for use in pending.pop().uses} - seen
        if any(op.name != "region.yield" and not is_elementwise(op) for op in readers):
            return None  # it is read at other indices than the output's
        seen |= readers
        pending += [op.results[0] for op in readers if is_elementwise(op)]
    return reduction if any(op.name == "region.yield" for op in seen) else None
