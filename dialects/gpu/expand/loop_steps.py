"""The steps of a statement's body: which element of a value a step computes, from the counters of its loops.

In: the fused loops of a body (`analysis.kernel_loops`), and index values for the axes that are its loops, and for those
inside of a step. Out: the index of the element in the value that a phase computes, or in what it reduces.
"""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tinyc.analysis.contiguous_loops import across_accesses
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.codegen.elements import Elements, IndexValues
from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.dialect import OutputOp
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.axes import Axis, AxisExpr, Shape, positions
from tinyc.mlir import ir
from tinyc.mlir.locations import around, where


@dataclass(frozen=True)
class LoopSteps:
    """The loops of a statement and its phases, as code at the insertion point has their indices."""

    found: KernelLoops
    elements: Elements
    yields: Mapping[ir.Value, Sequence[region.YieldOp]]

    @classmethod
    def of(cls, op: OutputOp, elements: Elements) -> "LoopSteps":
        """The steps of a statement.

        Raises:
            TinycError: `NoGpuKernel`: its body has none.
        """
        found = kernel_loops(op)
        if isinstance(found, str):
            message = f"'{op.operation.name}' takes a body of fused loops, and this has none: {found}"
            raise TinycError("NoGpuKernel", message, where(around(op)))
        yields: dict[ir.Value, list[region.YieldOp]] = {}
        for each in op.yields:
            yields.setdefault(each.value, []).append(each)
        return cls(found, elements, yields)

    @property
    def extents(self) -> Shape:
        """The extents of the loops, outermost first."""
        return self.found.loops.extents

    @property
    def element_bytes(self) -> int:
        """The size of the widest elements that are written."""
        outputs = [each for yields in self.yields.values() for each in yields]
        return max(region.held_tensor(each.buffer.type).element.size_bytes for each in outputs)

    def indexed(self, phase: Phase) -> ir.Value:
        """The value whose elements the instances of a phase stand for: of a reduction its operand."""
        value = self.found.value(phase)
        return value.owner.operand if phase.is_reduction and isinstance(value.owner, tiny.ReduceOp) else value

    def index(self, phase: Phase, step: Sequence[ir.Value], inner: Sequence[ir.Value]) -> IndexValues:
        """The index in `indexed` of an instance: `step` are its loops' indices, `inner` those of its other axes.

        Of a scan it is that of the result.
        """
        elements, shape = self.elements, phase.block.statement.shape
        at = dict(zip((*phase.loops, *phase.inner, *phase.reduced), (*step, *inner), strict=False))
        axes = [at.get(position, elements.index(0)) for position in range(len(shape))]
        index, op = self._joined(self.indexed(phase), axes), self.found.value(phase).owner
        if phase.scan_axis is None:
            return index
        assert isinstance(op, tiny.ReduceOp)  # a scan is one
        return tuple(position for axis, position in enumerate(index) if axis not in op.axes)

    def read_index(
        self, phase: Phase, access: PolyAccess, step: Sequence[ir.Value], inner: Sequence[ir.Value] = ()
    ) -> IndexValues:
        """The index in the tensor of an access of what an instance reads by it: `step` as for `index`, first inside."""
        counters, shape = self.elements.counters, phase.block.statement.shape
        at = dict(zip((*phase.loops, *phase.inner, *phase.reduced), (*step, *inner), strict=False))
        place = [at.get(position, self.elements.index(0)) for position in range(len(shape))]
        axes = [counters.value(counters.substituted(row, place, shape)) for row in access.index]
        return self._joined(self.found.tensor(access.tensor), axes)

    def beginnings(self, phase: Phase, step: Sequence[ir.Value]) -> Iterator[tuple[AxisExpr, int]]:
        """Yield where each read of a phase begins in its buffer in a step, and the bytes of an element there.

        It is those that go along the loops the most, of those with their neighbours behind each other inside of a step,
        and no border.
        """
        inside, loops = {*phase.inner, *phase.reduced}, {*phase.loops}
        reads = [
            (len(loops & set().union(*map(positions, access.index))), access, self.found.tensor(access.tensor).owner)
            for access in phase.block.accesses
            if access.index and not access.guards and _goes_forward(access.index[-1], inside)
        ]
        most = max((count for count, *_ in reads), default=0)
        for count, access, op in reads:
            if count == most and isinstance(op, region.ReadOp):
                size_bytes = region.held_tensor(op.buffer.type).element.size_bytes
                yield self.elements.address(op.buffer, self.read_index(phase, access, step)), size_bytes

    def begins_across(self, step: Sequence[ir.Value], row: AxisExpr) -> AxisExpr | None:
        """Where a step is in the buffer that has its neighbours beside it, in a row of what is reduced, if any does."""
        for phase in self.found.loops.reductions:
            for access in across_accesses(phase):
                op = self.found.tensor(access.tensor).owner
                if isinstance(op, region.ReadOp):
                    inner = self.elements.delinearized(self.elements.counters.value(row), phase.reduced_extents)
                    return self.elements.address(op.buffer, self.read_index(phase, access, step, inner))
        return None

    def _joined(self, value: ir.Value, axes: Sequence[ir.Value]) -> IndexValues:
        """The index in a value from the indices along the axes that its dimensions are split into."""
        counters = self.elements.counters
        index: list[ir.Value] = []
        for parts in self.found.dims(value):
            taken, axes = axes[: len(parts)], axes[len(parts) :]
            whole = counters.linear(counters.expressions(taken, parts), parts)
            index.append(taken[0] if len(parts) == 1 else counters.value(whole))
        return tuple(index)

    def kept_index(self, phase: Phase, op: tiny.ReduceOp, step: Sequence[ir.Value]) -> IndexValues:
        """The index of a reduction's result in a step."""
        inner = [self.elements.index(0)] * (len(phase.inner) + len(phase.reduced))
        operand = self.index(phase, step, inner)
        return tuple(position for axis, position in enumerate(operand) if axis not in op.axes)


def _goes_forward(row: AxisExpr, inside: Container[int]) -> bool:
    """Whether a coordinate grows along some axes."""
    steps = [step for atom, step in row.terms if isinstance(atom, Axis) and atom.position in inside]
    return bool(steps) and min(steps) > 0
