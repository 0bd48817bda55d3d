"""The Poly-View: the compute ops of a Tiny function as statements with domains, accesses and dependences.

In: a function in the Tiny layer. Out: a `PolyView`. A block is one compute op that an output needs, the movements that
it reads through composed away; a product and the sum over it are one block where they are a contraction. What is not
quasi-affine is no block: its value is a tensor like an argument. Specification 000 §1.4, §3; 002 §3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tinyc.analysis import axis as axes
from tinyc.analysis.access import Access, NonScop, is_movement, trace, trace_affine
from tinyc.analysis.axis import Shape
from tinyc.analysis.contraction import Contraction, Window, detect
from tinyc.analysis.graphs import value_names
from tinyc.analysis.index_book import AxisVar
from tinyc.analysis.movement import Guard, Index
from tinyc.analysis.scan import detect_scan
from tinyc.analysis.statement import Statement, constants, identifier
from tinyc.dialects.tiny.attributes import arguments, tensor_type
from tinyc.dialects.tiny.infer import NON_SCOP

_NON_SCOP = frozenset(f"tiny.{name}" for name in NON_SCOP)


@dataclass(frozen=True)
class PolyAccess:
    """A read of `tensor[index]` by each instance of a block that passes the guards."""

    tensor: str
    index: Index
    guards: tuple[Guard, ...]


@dataclass(frozen=True)
class PolyBlock:
    """A statement that writes `write` of the tensor that has its name.

    `kind` is `ewise`, `reduce`, `movement_affine` (an output that is a movement), `contraction_pattern` or `scan`;
    `attributes` say more as plain data, axes by their names.
    """

    kind: str
    statement: Statement
    write: Index
    accesses: tuple[PolyAccess, ...]
    attributes: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The statement's and the tensor's name."""
        return self.statement.name


@dataclass(frozen=True)
class NonScopTensor:
    """A value that no quasi-affine statement computes, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class PolyEdge:
    """The dependences of `target` on `source`, by the accesses of the target that read what the source writes.

    Values are written once, so there are no anti and output dependences before buffers are shared.
    """

    source: PolyBlock
    target: PolyBlock
    reads: tuple[PolyAccess, ...]

    @property
    def true(self) -> tuple[Any, ...]:
        """The true dependences as `isl.Map`s, instance to instance."""
        from tinyc.analysis.polyhedra import dependence  # islpy takes its time to load

        return tuple(
            dependence(self.source.statement, self.source.write, self.target.statement, each.index, each.guards)
            for each in self.reads
        )


@dataclass(frozen=True)
class PolyView:
    """Blocks and Non-SCoP tensors in program order, and the edges between blocks."""

    function: str
    items: tuple[PolyBlock | NonScopTensor, ...]
    edges: tuple[PolyEdge, ...]

    @property
    def blocks(self) -> tuple[PolyBlock, ...]:
        """The blocks."""
        return tuple(item for item in self.items if isinstance(item, PolyBlock))


def poly_view(function: Any, names: Sequence[str] | None = None) -> PolyView:
    """Return the Poly-View of a function that is a Tiny graph.

    `names` are the names of the items, where they are not to come from the values' names.

    Raises:
        TinycError: a value is not a Tiny tensor.
    """
    needed = _needed(function)
    tensors = _tensor_names(function, needed, names)
    items = tuple(_item(value, tensors) for value in needed)
    blocks = {item.name: item for item in items if isinstance(item, PolyBlock)}
    edges = tuple(edge for block in blocks.values() for edge in _edges(block, blocks))
    return PolyView(function.operation.attributes["sym_name"].value, items, edges)


def _needed(function: Any) -> list[Any]:
    """Return the values that an output needs and that are tensors of the view, arguments excepted, in program order."""
    block = function.regions[0].blocks[0]
    position = {op.operation: number for number, op in enumerate(block.operations)}
    pending = [value for op in block.operations if op.operation.name == "func.return" for value in op.operands]
    found: dict[Any, tuple[int, int]] = {}
    while pending:
        value = pending.pop()
        producer = getattr(value.owner, "operation", None)
        if value not in found and producer is not None:
            found[value] = (position[producer], value.result_number)
            pending += _sources(producer)
    return sorted(found, key=found.__getitem__)


def _sources(op: Any) -> list[Any]:
    """Return the tensors that the item made of `op` reads."""
    if is_movement(op):
        access = trace(op.results[0])
        # A movement that is not affine itself needs its operand as a tensor; one above such a movement, its result.
        stuck = isinstance(access, NonScop) and access.op == op
        return [op.operands[0] if stuck else trace_affine(op.results[0]).source]
    if op.name in _NON_SCOP:
        return list(op.operands)
    found = detect(op) if op.name == "tiny.reduce" else None
    if isinstance(found, Contraction):
        return [found.lhs.source, found.rhs.source]
    return [trace_affine(operand).source for operand in op.operands]


def _tensor_names(function: Any, needed: list[Any], names: Sequence[str] | None) -> dict[Any, str]:
    """Return the name of each tensor of the view: the value's name as an isl identifier, or the one given."""
    of = value_names(function)
    tensors: dict[Any, str] = {}
    taken: set[str] = set()
    for value in (*function.regions[0].blocks[0].arguments, *needed):
        tensors[value] = identifier(of[value], taken)
        taken.add(tensors[value])
    return {**tensors, **dict(zip(needed, names, strict=True))} if names else tensors


def _item(value: Any, tensors: Mapping[Any, str]) -> PolyBlock | NonScopTensor:
    op, name = value.owner.operation, tensors[value]
    if is_movement(op):
        access = trace(value)
        if isinstance(access, NonScop) and access.op == op:
            return NonScopTensor(name, access.reason)
        return _block("movement_affine", name, tensor_type(value.type).shape, [trace_affine(value)], tensors)
    if op.name in _NON_SCOP:
        return NonScopTensor(name, f"'{op.name}' reads where its data says")
    kind = op.name.removeprefix("tiny.")
    if kind == "reduce":
        return _reduction(op, name, tensors)
    accesses = [trace_affine(operand) for operand in op.operands]
    return _block("ewise", name, tensor_type(value.type).shape, accesses, tensors, op=kind)


def _reduction(op: Any, name: str, tensors: Mapping[Any, str]) -> PolyBlock:
    values = arguments(op)
    domain, reduced = tensor_type(op.operands[0].type).shape, values["axes"]
    found = detect(op)
    if isinstance(found, Contraction):
        block = _block("contraction_pattern", name, domain, [found.lhs, found.rhs], tensors, reduced)
        return replace(block, attributes={**_contraction(found, block.statement), **block.attributes})
    scan = detect_scan(op)
    accesses = [trace_affine(op.operands[0])]
    if scan is not None:
        facts = {"axis": scan.axis, "reverse": scan.reverse, "exclusive": scan.exclusive}
        return _block("scan", name, domain, accesses, tensors, reduced, op=scan.op, **facts)
    block = _block("reduce", name, domain, accesses, tensors, reduced, op=values["op"])
    return replace(block, attributes={"reduce_idx": _labels(reduced, block.statement), **block.attributes})


def _block(
    kind: str,
    name: str,
    domain: Shape,
    accesses: Sequence[Access],
    tensors: Mapping[Any, str],
    reduced: Sequence[int] = (),
    **attributes: Any,
) -> PolyBlock:
    """Return a block over `domain` that writes the element of all axes but the `reduced` ones."""
    rows = [row for access in accesses for row in (*access.map, *(guard.expression for guard in access.guards))]
    sizes = [guard.size for access in accesses for guard in access.guards]
    labels = [AxisVar(size, "iter").label for size in domain]
    statement = Statement.over(name, domain, labels, [*constants(rows), *sizes])
    write = tuple(axes.axis(position, domain) for position in range(len(domain)) if position not in reduced)
    reads = tuple(PolyAccess(tensors[access.source], access.map, access.guards) for access in accesses)
    pads = [
        {"access": number, "inside": statement.inside_text(guard), "value": guard.value}
        for number, read in enumerate(reads)
        for guard in read.guards
    ]
    return PolyBlock(kind, statement, write, reads, {**attributes, **({"pads": pads} if pads else {})})


def _labels(positions: Sequence[int], statement: Statement) -> list[str]:
    return [statement.axes[position] for position in positions]


def _contraction(found: Contraction, statement: Statement) -> dict[str, Any]:
    roles = found.roles
    idx = {
        "lhs_idx": (*roles.batch, *roles.m, *roles.k),
        "rhs_idx": (*roles.batch, *roles.k, *roles.n),
        "out_idx": sorted((*roles.batch, *roles.m, *roles.n, *roles.broadcast)),
        "reduce_idx": roles.k,
        "batch_idx": roles.batch,
    }
    offsets = [_offsets(window, statement) for window in found.windows]
    names = {name: _labels(positions, statement) for name, positions in idx.items()}
    return {**names, "pattern": found.pattern, "affine_offsets": offsets}


def _offsets(window: Window, statement: Statement) -> dict[str, Any]:
    outer, kernel = _labels((window.outer, window.kernel), statement)
    numbers = {"stride": window.stride, "dilation": window.dilation, "pad": window.pad}
    return {"operand": window.operand, "axis": window.row, "outer": outer, "kernel": kernel, **numbers}


def _edges(target: PolyBlock, blocks: Mapping[str, PolyBlock]) -> list[PolyEdge]:
    reads: dict[str, list[PolyAccess]] = {}
    for access in target.accesses:
        if access.tensor in blocks:
            reads.setdefault(access.tensor, []).append(access)
    return [PolyEdge(blocks[source], target, tuple(accesses)) for source, accesses in reads.items()]
