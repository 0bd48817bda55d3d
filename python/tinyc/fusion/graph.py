"""The graph that regions are formed of: the compute ops of a Tiny function, and who reads whose result.

In: a function in the Tiny layer. Out: a `FusionGraph` over its Poly-View with fine splits. A node is an item of the
view: a compute op with the movements that it reads through, a product with the sum over it. What reads where its data
says is a node that no loop nest computes but for a gather, which is computed element by element. A scatter takes its
data and its updates element by element, too.
"""

import enum
import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tinyc.analysis.access import DimAxes, shape_of
from tinyc.analysis.graphs import value_names
from tinyc.analysis.index_book.splits import fine_splits_of
from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.patterns.contraction import is_summed_product
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock, PolyItem
from tinyc.analysis.poly.view import view_and_values
from tinyc.analysis.poly_core.inlining import INLINE
from tinyc.analysis.tiny_ops import effort_of, is_stored
from tinyc.diagnostics import Where
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import Shape
from tinyc.mlir import func, ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.elementwise.row import Effort
from tinyc.vocabulary.types import TensorType


class NodeKind(enum.Enum):
    """What a node is to a kernel."""

    LEAF = "leaf"  # a constant, positions, random numbers: made where it is read
    ELEMENTWISE = "element-wise"  # also a movement that is a tensor, and a gather
    REDUCTION = "reduction"
    CONTRACTION = "contraction"
    SCAN = "scan"
    ORDERED = "ordered"  # a top-k, or a scatter with what it takes element by element: no reader joins its kernel
    VIEW = "view"  # a buffer under another shape: no kernel


@dataclass(frozen=True, eq=False)
class FusionNode:
    """One node: `name` is the item's in the Poly-View, `label` what people call its value, `op` what computes it.

    `block` says what it reads, as a statement, but for leaves; None for what is not one. `operands` are its reads, with
    leaves. `wholes` are the tensors that it needs in memory; `readers` are the nodes that read it. `is_special` says
    that it takes as long as a special function. `bound` is the one reader that must have it in its kernel, if there is
    one: a sum forms its products in its accumulator's type. `boundary` is why a movement is not read through.
    `copies` are statements of what an op that is ordered reads element by element.
    """

    name: str
    label: str
    kind: NodeKind
    op: ir.OpView
    block: PolyBlock | None
    operands: tuple[PolyAccess, ...]
    wholes: tuple[str, ...]
    readers: tuple[str, ...]
    is_output: bool
    is_special: bool
    bound: str | None
    boundary: str | None
    copies: tuple[PolyBlock, ...] = ()

    @property
    def where(self) -> Where:
        """Its place."""
        return where(self.op.location)

    @property
    def is_inline(self) -> bool:
        """Whether a kernel computes it where it is read."""
        return self.kind in (NodeKind.ELEMENTWISE, NodeKind.LEAF)

    @functools.cached_property
    def reads(self) -> tuple[str, ...]:
        """The tensors that it reads, each once."""
        accesses = [read for block in (self.block, *self.copies) if block for read in block.accesses]
        return tuple(dict.fromkeys([*(read.tensor for read in accesses), *self.wholes]))


@dataclass(frozen=True, eq=False)
class FusionGraph:
    """The nodes in program order, by name, and the tensors that they read and nobody computes.

    `labels` are what people call each tensor, `types` are their types, `shapes` those that the blocks index them by, in
    which axes may be split; `outputs` are the tensors that are returned.
    """

    function: str
    nodes: Mapping[str, FusionNode]
    labels: Mapping[str, str]
    types: Mapping[str, TensorType]
    shapes: Mapping[str, Shape]
    values: Mapping[str, ir.Value]
    outputs: tuple[str, ...]

    @functools.cached_property
    def gathers(self) -> frozenset[str]:
        """The statements that need tensors as wholes, too."""
        return frozenset(name for name, node in self.nodes.items() if node.wholes and node.block is not None)

    @functools.cached_property
    def name_of(self) -> Mapping[ir.Value, str]:
        """The names of the nodes' values."""
        return {self.values[name]: name for name in self.nodes}

    @functools.cached_property
    def position(self) -> Mapping[str, int]:
        """The place of each node in program order."""
        return {name: number for number, name in enumerate(self.nodes)}


def fusion_graph(function: func.FuncOp) -> FusionGraph:
    """The graph of a function that is a Tiny graph."""
    view, values = view_and_values(function, fine=True)
    names, dims = value_names(function), fine_splits_of(function).of
    outputs, by_value = frozenset(view.outputs), {value: name for name, value in values.items()}
    readers: dict[str, dict[str, None]] = {}
    found: list[tuple[str, ir.OpView, PolyBlock | None, tuple[str, ...], tuple[PolyBlock, ...]]] = []
    for item in view.items:
        op = values[item.name].owner
        assert isinstance(op, ir.OpView)  # what the view has as an item is computed
        reads = [] if isinstance(item, NonScopTensor) else [read.tensor for read in item.accesses]
        copies: tuple[PolyBlock, ...] = ()
        block, wholes = (item, ()) if isinstance(item, PolyBlock) else (None, item.reads)
        if isinstance(op, tiny.GatherOp):
            block, wholes = _gather(item.name, op, by_value, dims), (by_value[op.data],)
            reads = [read.tensor for read in block.accesses]
        elif isinstance(op, tiny.ScatterOp):
            copies, wholes = _scatter(op, by_value, dims), (by_value[op.index],)
            reads = [read.tensor for copy in copies for read in copy.accesses]
        for tensor in (*reads, *wholes):
            readers.setdefault(tensor, {})[item.name] = None
        found.append((item.name, op, block, wholes, copies))
    items = {item.name: item for item in view.items}
    nodes = {
        name: FusionNode(
            name,
            names[values[name]],
            _kind(op, block),
            op,
            block and _without_leaves(block, values),
            block.accesses if block else (),
            tuple(each for each in wholes if isinstance(op, tiny.MovementOp) or not _is_leaf(values[each])),
            tuple(readers.get(name, ())),
            name in outputs,
            effort_of(op) is not Effort.SIMPLE,
            _bound(values[name], by_value),
            _boundary(op, items[name]),
            tuple(_without_leaves(copy, values) for copy in copies),
        )
        for name, op, block, wholes, copies in found
    }
    types = {name: tensor_type(value.type) for name, value in values.items()}
    labels = {name: names[value] for name, value in values.items()}
    shapes = {name: shape_of(value, dims) for name, value in values.items()}
    return FusionGraph(view.function, nodes, labels, types, shapes, values, view.outputs)


def _kind(op: ir.OpView, block: PolyBlock | None) -> NodeKind:
    if isinstance(op, tiny.LeafOp):
        return NodeKind.LEAF
    if block is None:
        return NodeKind.VIEW if isinstance(op, tiny.MovementOp) else NodeKind.ORDERED
    if block.kind in INLINE:
        return NodeKind.ELEMENTWISE
    kinds = {"contraction_pattern": NodeKind.CONTRACTION, "scan": NodeKind.SCAN}
    return kinds.get(block.kind, NodeKind.REDUCTION)


def _without_leaves(block: PolyBlock, values: Mapping[str, ir.Value]) -> PolyBlock:
    """A statement without its reads of what is made where it is read."""
    accesses = (read for read in block.accesses if not _is_leaf(values[read.tensor]))
    return replace(block, accesses=tuple(accesses))


def _is_leaf(value: ir.Value) -> bool:
    return isinstance(value.owner, tiny.LeafOp) and not is_stored(value)


def _gather(name: str, op: tiny.GatherOp, names: Mapping[ir.Value, str], dims: DimAxes) -> PolyBlock:
    """A gather as a statement that reads its indices; its data is no affine function of anything."""
    result, rank = tensor_type(op.output.type), tensor_type(op.index.type).rank
    parts, axis = dims(op.output), op.axis.value
    shape = tuple(size for part in parts for size in part)
    first = sum(len(part) for part in parts[:axis])
    index = [axes.axis(first + k, shape) for k in range(sum(len(part) for part in parts[axis : axis + rank]))]
    if parts[axis : axis + rank] != dims(op.index):
        index = [axes.constant(0)] * sum(map(len, dims(op.index)))  # its axes are others: read anywhere
    read = PolyAccess(names[op.index], tuple(index))
    statement = Statement.over(name, shape, [""] * len(shape))
    return PolyBlock("ewise", statement, axes.identity(shape), (read,), result.element, {"op": "gather"})


def _scatter(op: tiny.ScatterOp, names: Mapping[ir.Value, str], dims: DimAxes) -> tuple[PolyBlock, ...]:
    """A scatter as the statements that read its data and its updates; its indices are read at any time."""
    found: list[PolyBlock] = []
    for value in (op.data, op.updates):
        if value == op.index:
            continue
        name, shape = names[value], shape_of(value, dims)
        index = axes.identity(shape)
        statement = Statement.over(f"{name}_taken", shape, [""] * len(shape))
        element = tensor_type(value.type).element
        found.append(PolyBlock("movement_affine", statement, index, (PolyAccess(name, index),), element, {}))
    return tuple(found)


def _boundary(op: ir.OpView, item: PolyItem) -> str | None:
    """Why reading through a movement ends: it is not affine, or a chain of movements is too long."""
    if not isinstance(op, tiny.MovementOp):
        return None
    return item.reason if isinstance(item, NonScopTensor) else item.attributes.get("materialized")


def _bound(value: ir.Value, names: Mapping[ir.Value, str]) -> str | None:
    """The sum that a product is for alone."""
    if not isinstance(value.owner, tiny.MulOp):
        return None
    readers = [use.owner for use in value.uses]
    if len(readers) == 1 and isinstance(readers[0], tiny.ReduceOp) and is_summed_product(readers[0]):
        return names.get(readers[0].result)
    return None
