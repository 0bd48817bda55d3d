"""The candidate that a group would be as a kernel: what the schemes are asked with, before there is a kernel.

In: a group. Out: a `Candidate`, whose product has the accesses of what it reads in memory, as that of a kernel does.
"""

from collections.abc import Sequence

from tinyc.analysis.candidate import Candidate, Epilogue, MatrixProduct, ProductOperand
from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.tile import kept_axes, reduction_axes
from tinyc.analysis.strided_access import BufferAccess, StridedAccess, strided_access
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.fusion.graph import NodeKind
from tinyc.fusion.group import Anchor, Group, moved_axes


def candidate_of(group: Group) -> Candidate:
    """The candidate that a group is."""
    types = group.graph.types
    results = sorted(group.results, key=group.graph.position.__getitem__)
    last = group.graph.nodes[results[-1]]
    outputs = tuple(types[name].shape for name in results)
    tensors = tuple(types[name] for name in (*group.reads, *results))
    if group.ordered:
        reason = f"'{group.ordered[0].label}' is a kernel of its own"
        return Candidate(last.label, last.where, outputs, None, reason, loops=reason, tensors=tensors)
    loops = group.loops
    reason = loops.why_no_product
    product = None if reason else _product(group)
    return Candidate(last.label, last.where, outputs, product, reason, loops=loops, tensors=tensors)


def _product(group: Group) -> MatrixProduct:
    """The matrix product of a group that has one."""
    (anchor,) = (each for each in group.anchors if each.node.kind is NodeKind.CONTRACTION)
    original = anchor.node.block
    assert original is not None  # it is a contraction
    lhs, rhs = map(moved_axes, anchor.node.operands)
    kept, shape = kept_axes(original), original.statement.shape
    element = original.element.accumulator

    def extent(positions: frozenset[int]) -> Dim:
        return extents.product(shape[position] for position in sorted(positions))

    m, n, k = kept & lhs - rhs, kept & rhs - lhs, reduction_axes(original)
    batch = kept - (lhs ^ rhs)
    left, right = (
        _operand(group, anchor, read, sides)
        for read, sides in zip(anchor.node.operands, ((m, k, batch), (k, n, batch)), strict=True)
    )
    return MatrixProduct(
        m=extent(m),
        n=extent(n),
        k=extent(k),
        batch=extent(batch),
        lhs=left,
        rhs=right,
        accumulator=element,
        epilogue=Epilogue(),
    )


def _operand(group: Group, anchor: Anchor, read: PolyAccess, sides: Sequence[frozenset[int]]) -> ProductOperand:
    """An operand of the product: where it is in memory, or the one tensor that it is computed from."""
    graph, name = group.graph, read.tensor
    access: StridedAccess | str = "its elements are computed"
    source: StridedAccess | None = None
    if name in group.reads:
        access = _in_memory(group, anchor, read, sides)
    else:
        below = [each for each in anchor.block.accesses if moved_axes(each) == moved_axes(read)]
        places = [_in_memory(group, anchor, each, sides) for each in below if each.tensor in group.reads]
        source = next((each for each in places if not isinstance(each, str) and len(below) == 1), None)
    return ProductOperand(graph.types[name].element, (graph.labels[name],), group.exact_elements(name), access, source)


def _in_memory(group: Group, anchor: Anchor, read: PolyAccess, sides: Sequence[frozenset[int]]) -> StridedAccess | str:
    """Where in memory an operand's elements are that are read as they are, or why at no regular distances."""
    if read.guards:
        return "it is padded"
    graph, name = group.graph, read.tensor
    rows, columns, batch = (sorted(each) for each in sides)
    memory = BufferAccess(group.reads.index(name), graph.types[name].element, graph.shapes[name], read.index)
    return strided_access(memory, anchor.block.statement.shape, (rows, columns, batch))
