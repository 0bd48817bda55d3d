"""Kernels whose one output reads one reduction element by element: what is reduced can be finished in registers.

In: the block of a `region.kernel`. Out: its reduction, or None. Loops on the CPU keep a tile of its accumulators, a GPU
kernel of a contraction does, and what stands between the reduction and the output is their epilogue.
"""

from collections.abc import Collection

from tinyc.analysis.graphs import needed_ops
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir


def tiled_reduction(block: ir.Block) -> tiny.ReduceOp | None:
    """The reduction that the one output of a kernel reads element by element, if it is of that form.

    What no output needs does not count.
    """
    needed = set(needed_ops(block))
    found = [op for op in needed if isinstance(op, tiny.ReduceOp)]
    if sum(isinstance(op, region.YieldOp) for op in needed) != 1 or len(found) != 1:
        return None
    return found[0] if read_element_wise(found[0], needed) else None


def read_element_wise(reduction: tiny.ReduceOp, needed: Collection[ir.OpView]) -> bool:
    """Whether an output reads a reduction, and no `needed` op does so but element by element, at the output's index."""
    is_written = False
    pending, seen = [reduction.result], set[ir.OpView]()
    while pending:
        for reader in {use.owner for use in pending.pop().uses if use.owner in needed} - seen:
            if isinstance(reader, region.YieldOp):
                is_written = True
            elif isinstance(reader, tiny.ElementwiseOp):
                pending.append(reader.result)
            else:
                return False  # it is read at other indices than the output's
            seen.add(reader)
    return is_written
