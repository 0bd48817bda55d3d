"""Indices from data that do not change in a loop are loaded in front of it, and what is asked of them is asked there.

In: the function of a kernel, in which a gather loads the index of a row for each element of it. Out: the same function,
with the load of such an integer in front of the loop. A loop that may have no turn stands with the load in a branch
that is taken if it has one: of an empty row nothing is read.
"""

from tinyc.dialects.region.to_loops.known_extents import KnownExtents
from tinyc.expr.extents import is_nonnegative
from tinyc.mlir import arith, func, ir, memref, scf, vector
from tinyc.mlir.bodies import ops_inside

#: What writes nothing to the memory that it is given; all else may, vectors of a packed operand among it.
_READING = memref.LoadOp, memref.PrefetchOp, memref.ReinterpretCastOp, vector.LoadOp


def hoist_index_loads(function: func.FuncOp, known: KnownExtents) -> bool:
    """Load integers of inputs in front of the loops in which their places do not change; returns whether any was."""
    written = {
        _buffer(operand)
        for op in ops_inside(function.operation)
        for operand in op.operands
        if isinstance(operand.type, ir.MemRefType) and not isinstance(op, _READING)
    }
    return _hoist(function.operation, written, known)


def _hoist(operation: ir.Operation, written: set[ir.Value], known: KnownExtents) -> bool:
    """Hoist from the inner loops of an op first, so that a load leaves as many loops as it can."""
    is_hoisted = False
    for region in operation.regions:
        for block in region.blocks:
            for op in list(block.operations):
                is_hoisted = _hoist(op.operation, written, known) or is_hoisted
                if isinstance(op, scf.ForOp):
                    is_hoisted = _hoist_from(op, written, known) or is_hoisted
    return is_hoisted


def _hoist_from(loop: scf.ForOp, written: set[ir.Value], known: KnownExtents) -> bool:
    loads = [
        op
        for op in loop.body.operations
        if isinstance(op, memref.LoadOp)
        and isinstance(op.result.type, ir.IntegerType)
        and _buffer(op.memref) not in written
        and all(_is_outside(operand, loop) for operand in op.operands)
    ]
    low, high = known.of(loop.lowerBound), known.of(loop.upperBound)
    has_turns = low is not None and high is not None and is_nonnegative(high - low - 1)
    if not loads or not (has_turns or not loop.results):
        return False
    if not has_turns:
        with ir.InsertionPoint(loop), loop.location:
            some = arith.cmpi(arith.CmpIPredicate.slt, loop.lowerBound, loop.upperBound)
            branch = scf.IfOp(some)
            with ir.InsertionPoint(branch.then_block):
                end = scf.yield_([])
        loop.operation.move_before(end.operation)
    for load in loads:
        load.operation.move_before(loop.operation)
    return True


def _is_outside(value: ir.Value, loop: scf.ForOp) -> bool:
    """Whether a value is there before a loop starts: what is in its body alone is defined in that block."""
    owner = value.owner
    return (owner if isinstance(owner, ir.Block) else owner.operation.block) != loop.body


def _buffer(memory: ir.Value) -> ir.Value:
    """The argument that a memref is a view of."""
    while isinstance(memory.owner, memref.ReinterpretCastOp):
        memory = memory.owner.source
    return memory
