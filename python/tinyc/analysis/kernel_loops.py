"""The fused loops of a `region.kernel`, and the values that their phases compute: what its code is made by.

In: a kernel, which stays as it is. Out: `KernelLoops`, or why its code has no such loops. An axis of a phase is a
dimension of its value, or a part of one (`index_book.splits`): a phase's block has the axes of all dimensions of the
value in row-major order, of a reduction those of its operand.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from tinyc.analysis.access import DimAxes, shape_of
from tinyc.analysis.index_book.splits import fine_splits_of
from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock
from tinyc.analysis.poly.view import PolyView, view_and_values
from tinyc.analysis.poly_core.fused_loops import FusedLoops, Phase, fused_loops
from tinyc.analysis.poly_core.inlining import INLINE
from tinyc.expr import axes
from tinyc.expr.axes import Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type


@dataclass(frozen=True)
class KernelLoops:
    """The loops and phases of a kernel; `dims` has the axes of each dimension of its values."""

    loops: FusedLoops
    dims: DimAxes
    _values: Mapping[str, ir.Value]

    def value(self, phase: Phase) -> ir.Value:
        """The value that a phase computes: the result of a `tiny.reduce`, or what is yielded."""
        return self._values[phase.block.name]

    def tensor(self, name: str) -> ir.Value:
        """The value that accesses of phases call `name`."""
        return self._values[name]

    def shape(self, tensor: str) -> Shape:
        """The extents of the axes of a tensor that phases read or write."""
        return shape_of(self._values[tensor], self.dims)


def whole_dimensions(kernel: KernelLoops, value: ir.Value) -> dict[int, int]:
    """The dimension of a value that each of its axes is, of those that are no part of one."""
    found, first = dict[int, int](), 0
    for dimension, parts in enumerate(kernel.dims(value)):
        if len(parts) == 1:
            found[first] = dimension
        first += len(parts)
    return found


def kernel_loops(graph: ir.OpView, kept: Collection[ir.Value] = ()) -> KernelLoops | str:
    """The fused loops of a `region.kernel`, or of a function, taken as one kernel; or why it has none.

    The values `kept`, results of element-wise ops, have phases of their own, as if they were results of the kernel.
    What reads where its data says is computed where it is read, like an element-wise op, and so is what it reads.
    """
    view, values = view_and_values(graph, fine=True)
    reason = _why_not_inline(view)
    if reason is not None:
        return reason
    dims = fine_splits_of(graph).of
    made = {block.name for block in view.blocks}
    copies = [_copy(name, values[name], dims) for name in dict.fromkeys(view.outputs) if name not in made]
    own = {name for name, value in values.items() if value in kept}
    loops = fused_loops((*view.blocks, *copies), ({*view.outputs} | own) & made | {copy.name for copy in copies})
    if isinstance(loops, str):
        return loops
    return KernelLoops(loops, dims, {**values, **{copy.name: values[copy.accesses[0].tensor] for copy in copies}})


def _why_not_inline(view: PolyView) -> str | None:
    """Why what reads where its data says cannot be computed where it is read: it needs a reduction of the kernel."""
    needs: dict[str, str] = {}  # what is computed where it is read, and of which reduction it is made
    for item in view.items:
        reads = item.reads if isinstance(item, NonScopTensor) else [read.tensor for read in item.accesses]
        needed = next((needs[tensor] for tensor in reads if tensor in needs), None)
        if isinstance(item, NonScopTensor) and needed is not None:
            return f"'{item.name}' reads '{needed}' as a whole: {item.reason}"
        if isinstance(item, PolyBlock) and item.kind not in INLINE:
            needs[item.name] = item.name
        elif needed is not None:
            needs[item.name] = needed
    return None


def _copy(name: str, value: ir.Value, dims: DimAxes) -> PolyBlock:
    """The block of what is yielded as it is read: a tensor, or what no quasi-affine statement computes."""
    shape = shape_of(value, dims)
    index = axes.identity(shape)
    statement = Statement.over(f"{name}_copy", shape, [""] * len(shape), [])
    return PolyBlock(
        "movement_affine", statement, index, (PolyAccess(name, index),), tensor_type(value.type).element, {}
    )
