"""How the operands of a product lie in memory: what of them a CPU reads as it is, and what it packs along which axes.

In: a kernel, and the phase of a sum over products. Out: `ProductReads`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.analysis.access import Access, NonScop, extend, shape_of, trace
from tinyc.analysis.cpu_form import jumps
from tinyc.analysis.kernel_loops import KernelLoops
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.analysis.strided_access import AxisRun, BufferAccess, StridedAccess, strided_access
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.target import DotForm, DotProduct
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType

#: What the type of sums holds as it is, and instructions multiply.
_HELD = {ElementType.F32: (ElementType.BF16,), ElementType.I32: (ElementType.I8, ElementType.UI8)}


@dataclass(frozen=True)
class ProductReads:
    """The reads of the two operands of the products that a phase sums up."""

    kernel: KernelLoops
    phase: Phase
    #: Lines so much longer are packed by transpositions of registers as fast as their neighbours are.
    long_run: int

    @property
    def accumulator(self) -> ElementType:
        """The element type of the sums, in which operands are packed."""
        return self.phase.block.element.accumulator

    def are_along(self, own: tuple[int, ...], other: tuple[int, ...]) -> bool:
        """Whether an operand has its neighbours in memory along its `own` axes, or not many of them along the sum.

        The other operand has the axes `other`.
        """
        domain, lie_along_sum = self.phase.block.statement.shape, False
        for read in self.phase.block.accesses:
            if not read.positions.isdisjoint(other) or read.positions.isdisjoint(own):
                continue
            memory = BufferAccess(0, self.accumulator, self.kernel.shape(read.tensor), read.index)
            strided = strided_access(memory, domain, (own, self.phase.reduced, ()))
            if isinstance(strided, str):
                if not jumps(read, own[-1]):
                    return True
                lie_along_sum = True
            elif strided.rows and strided.rows[-1].stride == 1:
                return True
            elif strided.columns and strided.columns[-1].stride == 1:
                run = strided.columns[-1].extent
                lie_along_sum = lie_along_sum or not isinstance(run, int) or run >= self.long_run
        return not lie_along_sum

    def is_one_row(self, factor: ir.Value, along: tuple[int, ...], extent: Dim) -> bool:
        """Whether an operand is in memory as sums take it, and along some axes each element right behind the last."""
        access = self.access(factor)
        found = "" if access is None else self.strided(factor, access, ((), along, ()))
        return not isinstance(found, str) and found.columns == (AxisRun(extent, 1),)

    def access(self, factor: ir.Value, held: ElementType | None = None, *, group: int | None = None) -> Access | None:
        """How an operand is read of memory, if that has it as sums take it, or in the type `held` that it is a cast of.

        Memory is row-major, or in panels with a `group` of rows beside each other.
        """
        element, dims = held or self.accumulator, self.kernel.dims

        def enter(op: ir.OpView) -> bool:
            is_cast_of_held = isinstance(op, tiny.CastOp) and tensor_type(op.operand.type).element == held
            return isinstance(op, tiny.MovementOp) or is_cast_of_held

        domain = shape_of(factor, dims)
        access, fault = extend(Access(factor, axes.identity(domain)), domain, enter, dims)
        if fault is not None or access.guards or tensor_type(access.source.type).element != element:
            return None
        read = access.source.owner
        return access if isinstance(read, region.ReadOp) and region.panel_group(read.buffer) == group else None

    def in_words(self, form: DotForm, left: ir.Value, right: ir.Value) -> DotProduct | None:
        """How words of neighbours of two operands are multiplied in a form, if it is for such operands and sums."""
        operands = self._held_element(left), self._held_element(right)
        is_for_them = {*operands} <= {*_HELD.get(self.accumulator, ())} & {*form.elements}
        return DotProduct(form, *operands) if is_for_them else None

    def _held_element(self, factor: ir.Value) -> ElementType:
        """The element type that holds all elements of an operand: its own, or of a cast that changes nothing its."""
        own, access = tensor_type(factor.type).element, trace(factor, self.kernel.dims)
        if isinstance(access, NonScop) or not isinstance(access.source.owner, tiny.CastOp):
            return own
        held = tensor_type(access.source.owner.operand.type).element
        is_kept = held in _HELD.get(own, ()) and all(guard.value == 0 for guard in access.guards)
        return held if is_kept else own

    def strided(
        self, factor: ir.Value, access: Access, sides: tuple[Sequence[int], Sequence[int], Sequence[int]]
    ) -> StridedAccess | str:
        """Where the elements of an operand are, its `sides` being rows, columns and the batch."""
        dims = self.kernel.dims
        element = tensor_type(access.source.type).element
        memory = BufferAccess(0, element, shape_of(access.source, dims), access.map)
        return strided_access(memory, shape_of(factor, dims), sides)
