"""The local edges of a kernel: from a reduction to what reads it in the same step, and where its elements are between.

In: fused loops, and the values of their phases. Out: `LocalEdge`s, which a plan names by ops, so that they are the same
whatever a program calls its values: `sum_k` is a sum over the reduced axes, `relu` a result that a ReLU computes last,
`sum_k_1` a second sum. Specification 000 §1.6, §4.1.
"""

from collections.abc import Callable

from tinyc.analysis.candidate import LocalEdge
from tinyc.analysis.poly_core.buffer import min_buffer_for_edge
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import ir
from tinyc.mlir.names import DistinctNames
from tinyc.vocabulary.attributes import vocabulary_name


def local_edges(loops: FusedLoops, value_of: Callable[[Phase], ir.Value]) -> tuple[LocalEdge, ...]:
    """The edges from the reductions of a step to the phases that read them, in the order in which these run."""
    names = DistinctNames()
    called = {phase.block.name: names.new(_op_name(value_of(phase))) for phase in loops.phases}
    producers = {phase.block.name: phase for phase in loops.reductions}
    found: list[LocalEdge] = []
    for phase in loops.phases:
        for tensor in dict.fromkeys(read.tensor for read in phase.block.accesses if read.tensor in producers):
            step = {phase.block.statement.axes[position]: 1 for position in phase.loops}
            buffer = min_buffer_for_edge(producers[tensor].block, phase.block, step)
            found.append(LocalEdge(called[tensor], called[phase.block.name], buffer.buffer, buffer.depth))
    return tuple(found)


def contraction_pattern_of(loops: FusedLoops) -> str | None:
    """The pattern of the one contraction of a kernel, `matmul` or `conv`; None where it is not one."""
    patterns = [p.block.attributes["pattern"] for p in loops.phases if p.block.kind == "contraction_pattern"]
    return patterns[0] if len(patterns) == 1 else None


def _op_name(value: ir.Value) -> str:
    """What a plan calls a value: the op that computes it, below casts and movements.

    A constant computes nothing: a kernel may read it from memory.
    """
    op = value.owner
    if isinstance(op, tiny.ReduceOp):
        return f"{op.op.value}_k"
    while isinstance(op, tiny.CastOp | tiny.MovementOp) and isinstance(op.operands[0].owner, tiny.TinyOp):
        if isinstance(op.operands[0].owner, tiny.ReduceOp | tiny.ConstOp):
            break
        op = op.operands[0].owner
    return vocabulary_name(op) if isinstance(op, tiny.TinyOp) else "copy"
