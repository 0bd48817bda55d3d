"""Kernels whose one output reads one reduction element by element: what is reduced can be finished in registers.

In: a `region.kernel`. Out: its reduction, or None. Loops on the CPU keep a tile of its accumulators, a GPU kernel of a
contraction does, and what stands between the reduction and the output is their epilogue.
"""

from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir


def tiled_reduction(kernel: Kernel) -> tiny.ReduceOp | None:
    """The reduction that the kernel's one output reads element by element, if it is of that form."""
    found = [op for op in kernel.body if isinstance(op, tiny.ReduceOp)]
    if len(kernel.yields) != 1 or len(found) != 1:
        return None
    (reduction,) = found
    is_written = False
    pending, seen = [reduction.result], set[ir.OpView]()
    while pending:
        for reader in {use.owner for use in pending.pop().uses} - seen:
            if isinstance(reader, region.YieldOp):
                is_written = True
            elif isinstance(reader, tiny.ElementwiseOp):
                pending.append(reader.result)
            else:
                return None  # it is read at other indices than the output's
            seen.add(reader)
    return reduction if is_written else None
