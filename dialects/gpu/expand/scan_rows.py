"""`tgpu.scan_rows` for one thread: its part of each turn along a row, and the exchange of what is before each thread.

A thread combines its neighbours in their order; a warp finds what is before each lane by shuffles over growing
distances, and a CTA what is before each warp by shared memory: always in the same order. What a turn ends with is
carried to the next one. Where rows lie beside each other, a thread has rows of its own and exchanges nothing.
"""

import itertools
from collections.abc import Sequence

from tinyc.analysis.patterns.scan import Scan, detect_scan
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen.elements import initial
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.cta_prefix import CtaPrefix
from tinyc.dialects.gpu.expand.expansion import Expansion
from tinyc.dialects.gpu.expand.loop_steps import LoopSteps
from tinyc.dialects.gpu.expand.step_threads import StepThreads, Turn
from tinyc.dialects.gpu.statements import ScanRowsOp
from tinyc.dialects.tiny import ops as tiny
from tinyc.mlir import arith, ir
from tinyc.mlir.locations import around, where


def expand(expansion: Expansion, op: ScanRowsOp) -> None:
    """Emit the loop over the rows, and in it the turns along one.

    Raises:
        TinycError: `NoGpuKernel`: its body does not have one scan.
    """
    steps = LoopSteps.of(op, expansion.elements)
    scans = [phase for phase in steps.found.loops.phases if phase.is_reduction]
    reduction = steps.found.value(scans[0]).owner if scans else None
    scan = detect_scan(reduction) if isinstance(reduction, tiny.ReduceOp) and len(scans) == 1 else None
    if not isinstance(reduction, tiny.ReduceOp) or not isinstance(scan, Scan):
        message = f"'{op.operation.name}' takes a body with one scan; use 'tgpu.map'"
        raise TinycError("NoGpuKernel", message, where(around(op)))
    _Rows(expansion, op, steps, scans[0], reduction, scan).write()


class _Rows:
    """Writes the rows of one scan."""

    def __init__(
        self, expansion: Expansion, op: ScanRowsOp, steps: LoopSteps, phase: Phase, reduction: tiny.ReduceOp, scan: Scan
    ) -> None:
        self.steps, self.phase, self.reduction, self.scan = steps, phase, reduction, scan
        self.elements = expansion.elements
        self.threads = StepThreads(expansion, op, steps, unrolled=False)
        self.prefix = CtaPrefix(expansion, self.threads, reduction)

    def write(self) -> None:
        """Emit the rows."""
        with self.threads.all_steps():
            start = [initial(self.reduction)] * self.threads.totals
            self.threads.folded(self.phase, start, self._turn, reverse=self.scan.reverse)

    def _turn(self, turn: Turn, carried: list[ir.Value]) -> list[ir.Value]:
        """Emit a turn, which begins with what is `carried`; return what the next one begins with."""
        elements, op = self.elements, self.reduction
        with elements.run(turn.counter, self.threads.width, turn.inside):
            terms = [elements.scanned(op, self.scan, turn.indices[lane]) for lane in elements.lanes()]
        if turn.inside is not None:
            pairs = zip(turn.inside.lanes, terms, strict=True)
            terms = [arith.select(condition, term, initial(op)) for condition, term in pairs]
        in_rows = self.threads.in_rows
        found, carried = self._along(terms, carried[0]) if in_rows else self._beside(terms, carried)
        results = [elements.finished(op, value) for value in found]
        elements.reduced[op.output] = lambda _: results[elements.lane]
        if op.output in self.steps.yields:
            self._store(op.output, turn, turn.indices, results)
        for phase in self.steps.found.loops.phases:
            if not phase.is_reduction:
                value, same = (
                    self.steps.found.value(phase),
                    self.threads.turn(phase, turn.turn, None, self.scan.reverse),
                )
                with elements.run(same.counter, self.threads.width, same.inside):
                    values = [elements.at(value, same.indices[lane]) for lane in elements.lanes()]
                self._store(value, same, same.indices, values)
        return carried

    def _store(
        self, value: ir.Value, turn: Turn, indices: Sequence[tuple[ir.Value, ...]], values: Sequence[ir.Value]
    ) -> None:
        for each in self.steps.yields[value]:
            self.elements.store_inside(each.buffer, indices, values, turn.inside)

    def _along(self, terms: Sequence[ir.Value], carried: ir.Value) -> tuple[list[ir.Value], list[ir.Value]]:
        """What a row has up to each of a thread's neighbours, and what it has up to the end of the turn."""
        order = list(range(len(terms)))[:: -1 if self.scan.reverse else 1]
        local: dict[int, ir.Value] = {}
        so_far: ir.Value | None = None
        for lane in order:
            so_far = terms[lane] if so_far is None else self._combined(so_far, terms[lane])
            local[lane] = so_far
        assert so_far is not None  # a run has an element
        before, total = self.prefix.of(so_far)
        before = self._combined(carried, before)
        inclusive = {lane: self._combined(before, local[lane]) for lane in order}
        found = inclusive
        if self.scan.exclusive:
            found = {order[0]: before, **{lane: inclusive[last] for last, lane in itertools.pairwise(order)}}
        return [found[lane] for lane in range(len(terms))], [self._combined(carried, total)]

    def _beside(self, terms: Sequence[ir.Value], carried: list[ir.Value]) -> tuple[list[ir.Value], list[ir.Value]]:
        """The same where each of the terms is of a row of its own."""
        following = [self._combined(*pair) for pair in zip(carried, terms, strict=True)]
        return (carried if self.scan.exclusive else following), following

    def _combined(self, earlier: ir.Value, later: ir.Value) -> ir.Value:
        return self.elements.combined(self.reduction, earlier, later)
