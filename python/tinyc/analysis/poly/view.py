"""The Poly-View: the compute ops of a Tiny function as statements with domains, accesses and dependences.

In: a function in the Tiny layer. Out: a `PolyView`. A block is one compute op that an output needs, the movements that
it reads through composed away; a product and the sum over it are one block where they are a contraction. A chain of
movements too long for one access is cut: the value where it is cut is `materialized`, a block of its own. What is not
quasi-affine, or too complicated even so, is not a block: its value is a tensor like an argument, with the reason.
Specification 000 §1.4, §3; 002 §3.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from tinyc.analysis.access import Access
from tinyc.analysis.graphs import value_names
from tinyc.analysis.index_book.book import AxisVar
from tinyc.analysis.isl.statement import Statement, constants, isl_identifier
from tinyc.analysis.patterns.classification import Reduction
from tinyc.analysis.patterns.contraction import Contraction, is_summed_product
from tinyc.analysis.patterns.contraction.facts import contraction_facts
from tinyc.analysis.patterns.fold import Fold
from tinyc.analysis.patterns.scan import Scan
from tinyc.analysis.patterns.softmax import softmax_product
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock, PolyItem, access_excess, with_producers
from tinyc.analysis.poly.edge import PolyEdge, edges_of
from tinyc.analysis.poly.reads import Needed
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type, vocabulary_name
from tinyc.vocabulary.element_type import ElementType


@dataclass(frozen=True)
class PolyView:
    """Blocks and Non-SCoP tensors in program order, and the edges between blocks.

    `outputs` are the tensors that the function returns, in that order; an argument may be one, and one may come twice.
    `elements` has the element types of the tensors that no block makes: arguments, `constants` that are tensors, and
    what is not quasi-affine.
    """

    function: str
    items: tuple[PolyItem, ...]
    edges: tuple[PolyEdge, ...]
    outputs: tuple[str, ...]
    elements: Mapping[str, ElementType]
    constants: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[PolyBlock, ...]:
        """The blocks."""
        return tuple(item for item in self.items if isinstance(item, PolyBlock))


def poly_view(
    graph: ir.OpView,
    names: Sequence[str] | None = None,
    buffers: Mapping[str, str] | None = None,
    fine: bool = False,
    constants: Sequence[str] | None = None,
) -> PolyView:
    """The Poly-View of a function that is a Tiny graph, of a `region.kernel`, or of a statement with such a body.

    `names` are the names of the items, and `constants` those of the tensor constants, where they are not to come from
    the values' names; `buffers` says in which
    memory a block's tensor lies, by its name, where it shares that with others. With `fine`, the axes are those of fine
    splits (`index_book.splits`).

    Raises:
        TinycError: a value is not a Tiny tensor.
    """
    needed = Needed(graph, fine)
    tensors = _tensor_names(graph, needed, names)
    if constants is not None:
        tensors |= dict(zip(needed.constants, constants, strict=True))
    return _view(graph, needed, tensors, buffers)


def view_and_values(graph: ir.OpView, fine: bool = False) -> tuple[PolyView, dict[str, ir.Value]]:
    """The Poly-View of a graph, and the values that its tensors stand for; raises as `poly_view`."""
    needed = Needed(graph, fine)
    tensors = _tensor_names(graph, needed, None)
    return _view(graph, needed, tensors, None), _values(needed, tensors)


def _view(
    graph: ir.OpView, needed: Needed, tensors: Mapping[ir.Value, str], buffers: Mapping[str, str] | None
) -> PolyView:
    computed = (_item(value, needed, tensors) for value in needed.reads)
    items = with_producers(_placed(item, buffers) if buffers else item for item in computed)
    blocks = [item for item in items if isinstance(item, PolyBlock)]
    outputs = tuple(tensors[value] for value in needed.outputs)
    made = {block.name for block in blocks}
    elements = {name: tensor_type(value.type).element for value, name in tensors.items() if name not in made}
    name = graph.attributes.get("sym_name", None)  # a statement of a GPU kernel has none
    called = name.value if isinstance(name, ir.StringAttr) else ""
    constants = tuple(tensors[value] for value in needed.constants)
    return PolyView(called, items, edges_of(blocks), outputs, elements, constants)


def values_of(graph: ir.OpView, fine: bool = False) -> dict[str, ir.Value]:
    """The values that the tensors of a Poly-View stand for, by their names: items, then arguments."""
    needed = Needed(graph, fine)
    return _values(needed, _tensor_names(graph, needed, None))


def _values(needed: Needed, tensors: Mapping[ir.Value, str]) -> dict[str, ir.Value]:
    return {tensors[value]: value for value in (*needed.reads, *needed.arguments)}


def _placed(item: PolyItem, buffers: Mapping[str, str]) -> PolyItem:
    return replace(item, buffer=buffers.get(item.name)) if isinstance(item, PolyBlock) else item


def _tensor_names(graph: ir.OpView, needed: Needed, names: Sequence[str] | None) -> dict[ir.Value, str]:
    """The name of each tensor of the view: the value's name as an isl identifier, or the one given."""
    of = value_names(graph)
    tensors: dict[ir.Value, str] = {}
    taken: set[str] = set()
    for value in (*needed.arguments, *needed.reads):
        tensors[value] = isl_identifier(of[value], taken)
        taken.add(tensors[value])
    return {**tensors, **dict(zip(needed.reads, names, strict=True))} if names else tensors


def _item(value: ir.OpResult, needed: Needed, tensors: Mapping[ir.Value, str]) -> PolyItem:
    """The item that computes a value."""
    op, name, reads = value.owner, tensors[value], needed.reads[value]
    if reads.reason is not None:
        return NonScopTensor(name, reads.reason, _distinct(tensors[operand] for operand in reads.operands))
    domain = needed.shape(value)
    if reads.reduction is not None:
        block = _reduction(op, reads.reduction, needed, tensors)
    elif isinstance(op, tiny.MovementOp):
        why: dict[str, Any] = {"materialized": needed.cuts[value].about(name)} if value in needed.cuts else {}
        block = _block("movement_affine", value, domain, reads.accesses, tensors, **why)
    else:
        kind = vocabulary_name(op)
        block = _block("ewise", value, domain, reads.accesses, tensors, op=kind)
    reason = next(filter(None, (access_excess(each, block.statement.shape) for each in block.accesses)), None)
    if reason is not None:
        return NonScopTensor(name, reason, _distinct(access.tensor for access in block.accesses))
    return block


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _reduction(op: ir.OpView, reduction: Reduction, needed: Needed, tensors: Mapping[ir.Value, str]) -> PolyBlock:
    """The block of a `tiny.reduce`: of a contraction, of a scan, or of neither."""
    value = op.result
    domain, accesses = needed.shape(op.operands[0]), needed.reads[value].accesses
    pattern, reduced = reduction.pattern, reduction.reduced
    if isinstance(pattern, Contraction):
        block = _block("contraction_pattern", value, domain, accesses, tensors, reduced)
        facts = contraction_facts(pattern, block.statement.axes)
        if isinstance(op, tiny.ReduceOp) and not is_summed_product(op):
            facts["moved_products"] = True
        weighted = softmax_product(op) if isinstance(op, tiny.ReduceOp) else None
        if weighted is not None:
            facts["softmax"] = "lhs" if weighted.is_left else "rhs"
        return replace(block, attributes={**facts, **block.attributes})
    is_scan = isinstance(pattern, Scan)
    block = _block("scan" if is_scan else "reduce", value, domain, accesses, tensors, reduced, op=reduction.op)
    names = block.statement.axes
    facts: dict[str, Any] = {"rejected": {name: str(why.named(names)) for name, why in reduction.rejected}}
    if is_scan:
        facts |= {"axis": pattern.axis, "reverse": pattern.reverse, "exclusive": pattern.exclusive}
    else:
        facts |= {"reduce_idx": [names[position] for position in reduced]}
    if isinstance(pattern, Fold):
        facts |= {"fold": [asdict(each) for each in pattern.axes]}
    return replace(block, attributes={**facts, **block.attributes})


def _block(
    kind: str,
    value: ir.Value,
    domain: Shape,
    accesses: Sequence[Access],
    tensors: Mapping[ir.Value, str],
    reduced: Sequence[int] = (),
    **attributes: Any,
) -> PolyBlock:
    """A block over `domain` that writes the element of `value` at all axes but the `reduced` ones."""
    rows = [row for access in accesses for row in access.expressions]
    sizes = [guard.size for access in accesses for guard in access.guards]
    statement = Statement.over(tensors[value], domain, _labels(domain), [*constants(rows), *sizes])
    write = axes.identity(domain)
    if reduced:
        write = tuple(row for position, row in enumerate(write) if position not in reduced)
    reads = tuple(PolyAccess(tensors[access.source], access.map, access.guards) for access in accesses)
    return PolyBlock(kind, statement, write, reads, tensor_type(value.type).element, attributes)


@functools.lru_cache(maxsize=1 << 10)
def _labels(domain: Shape) -> tuple[str, ...]:
    return tuple(AxisVar(size, "iter").label for size in domain)
