"""What one thread has of a reduction of rows: the terms of a turn, taken into the accumulators of its steps."""

from collections.abc import Sequence

from tinyc.codegen.elements import initial
from tinyc.dialects.gpu.expand.step_threads import StepThreads, Turn
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, ir


def terms_of(threads: StepThreads, op: tiny.ReduceOp, turn: Turn) -> list[ir.Value]:
    """Emit what a thread takes of a turn, a term for each element of its run: neutral where that is not inside."""
    elements = threads.elements
    with elements.run(turn.counter, threads.width, turn.inside):
        terms = [elements.term(op, turn.indices[lane]) for lane in elements.lanes()]
    if turn.inside is None:
        return terms
    return [arith.select(inside, term, initial(op)) for inside, term in zip(turn.inside.lanes, terms, strict=True)]


def taken(threads: StepThreads, op: tiny.ReduceOp, so_far: Sequence[ir.Value], terms: list[ir.Value]) -> list[ir.Value]:
    """Emit accumulators with the terms of a turn taken in."""
    elements = threads.elements
    while len(terms) > len(so_far):  # neighbours of one step: by halves, which keeps the chains of additions short
        half = len(terms) // 2
        terms = [elements.combined(op, *pair) for pair in zip(terms[:half], terms[half:], strict=True)]
    return [elements.combined(op, *pair) for pair in zip(so_far, terms, strict=True)]


def keep(threads: StepThreads, op: tiny.ReduceOp, accumulators: Sequence[ir.Value]) -> list[ir.Value]:
    """Let elements that need a reduction have what the accumulators of the steps hold; return that."""
    elements = threads.elements
    found = [elements.finished(op, each) for each in accumulators]
    elements.reduced[op.output] = lambda _: found[elements.lane if len(found) > 1 else 0]
    return found
