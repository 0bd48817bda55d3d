"""Where the results of a kernel stand, seen from an element of the tensor that it accumulates.

Between an accumulated tensor and a result may be movements that give each element one place: a reshape, a transpose.
Each result of a kernel whose fused loops are all axes of both has such a place for every element, and no other one.

In: a graph that reads the accumulated tensor, as a kernel or a statement's body does. Out: an index for each result.
"""

from collections.abc import Mapping

from tinyc.analysis.access import DimAxes
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.poly_core.fused_loops import Phase
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes, extents
from tinyc.expr.axes import AxisExpr, Index, Shape
from tinyc.mlir import ir
from tinyc.mlir.bodies import body_of
from tinyc.vocabulary.attributes import tensor_type


def result_places(graph: ir.OpView, accumulated: ir.Value) -> Mapping[ir.Value, Index] | str:
    """For each result of a graph, where it has what becomes of an element of `accumulated`, over the axes of that.

    Otherwise, why an element of the accumulated tensor has no one place in a result.
    """
    same = _same_places(graph, accumulated)
    if same is not None:
        return same
    kernel = kernel_loops(graph)
    if isinstance(kernel, str):
        return kernel
    found: dict[ir.Value, Index] = {}
    for phase in kernel.loops.phases:
        value = kernel.value(phase)
        if phase.is_reduction and value == accumulated and not _is_yielded(value):
            continue
        if value == accumulated:
            found[value] = axes.identity(tensor_type(value.type).shape)
            continue
        place = _place(kernel, phase, accumulated)
        if isinstance(place, str):
            return place
        found[value] = place
    return found


#: What an element of is computed wherever it is asked for.
_PLAIN = (region.ReadOp, tiny.LeafOp, tiny.MovementOp)


def _same_places(graph: ir.OpView, accumulated: ir.Value) -> Mapping[ir.Value, Index] | None:
    """The places where element-wise ops alone make the results of what is accumulated: all the same, or None.

    What they make it with may come from anywhere. Most epilogues are such, and need no fused loops to see it.
    """
    made, results = {accumulated}, list[ir.Value]()
    for op in body_of(graph):
        if isinstance(op, region.YieldOp):
            results.append(op.value)
        elif isinstance(op, tiny.ElementwiseOp):
            made.update(() if made.isdisjoint(op.operands) else op.results)
        elif not made.isdisjoint(op.operands) or not (isinstance(op, _PLAIN) or op.results[0] == accumulated):
            return None
    index = axes.identity(tensor_type(accumulated.type).shape)
    return dict.fromkeys(results, index) if made.issuperset(results) else None


def _is_yielded(value: ir.Value) -> bool:
    return any(isinstance(use.owner, region.YieldOp) for use in value.uses)


def _place(kernel: KernelLoops, phase: Phase, accumulated: ir.Value) -> Index | str:
    """The index of a phase's value, over the axes of the accumulated tensor."""
    block, shape = phase.block, tensor_type(accumulated.type).shape
    value = kernel.value(phase)
    reads = [read for read in block.accesses if kernel.tensor(read.tensor) == accumulated]
    if not reads:
        same = tensor_type(value.type).shape == shape
        return axes.identity(shape) if same else f"'{block.name}' has another shape, and does not read what is summed"
    rows = dict.fromkeys(read.index for read in reads)
    parts = _parts(kernel.dims, accumulated)
    index = next(iter(rows))
    own = [axes.plain_axis(row) for row in index]
    moved = [axis for axis in own if axis is not None]
    sizes = block.statement.shape
    takes_all = sorted(moved) == [axis for axis, size in enumerate(sizes) if size != 1]
    fits = all(axis is None or sizes[axis] == size for axis, (_, size) in zip(own, parts, strict=True))
    if len(rows) > 1 or any(read.guards for read in reads) or not takes_all or not fits:
        return f"'{block.name}' reads what is summed at other indices than its own"
    where = {axis: part for axis, (part, _) in zip(own, parts, strict=True) if axis is not None}
    return _joined(kernel.dims(value), where)


def _parts(dims: DimAxes, accumulated: ir.Value) -> list[tuple[AxisExpr, extents.Dim]]:
    """The parts of each dimension of a tensor, as functions of its dimensions, with their sizes."""
    shape = tensor_type(accumulated.type).shape
    found: list[tuple[AxisExpr, extents.Dim]] = []
    for dimension, sizes in enumerate(dims(accumulated)):
        rest, parts = axes.axis(dimension, shape), list[AxisExpr]()
        for size in reversed(sizes[1:]):
            assert isinstance(size, int), "fine splits are by numbers"
            parts.append(axes.mod(rest, size, shape))
            rest = axes.floordiv_within(rest, size, shape)
        found += zip([rest, *reversed(parts)], sizes, strict=True)
    return found


def _joined(dims: tuple[Shape, ...], where: Mapping[int, AxisExpr]) -> Index:
    """The index along dimensions from that along their parts, which are numbered one after the other."""
    index: list[AxisExpr] = []
    position = 0
    for sizes in dims:
        total = axes.constant(0)
        for size in sizes:
            total = total * size if isinstance(size, int) else total
            total = total + where.get(position, axes.constant(0))
            position += 1
        index.append(total)
    return tuple(index)
