"""What holds for Poly-Views: a view lists blocks, Non-SCoP tensors and edges, and says what the analysis says.

A view is compared with the recomputed one item by item. The names of tensors are taken from the view, because name
locations do not survive as text; sets and maps are compared by isl, as sets and maps.
"""

from collections.abc import Iterable, Iterator, Mapping

from tinyc.analysis.graphs import functions_of, is_graph
from tinyc.analysis.isl.notation import NotReadable
from tinyc.analysis.poly.block import NonScopTensor, PolyBlock, PolyItem, with_producers
from tinyc.analysis.poly.edge import DEPENDENCE_KINDS, edges_of
from tinyc.analysis.poly.reads import Needed
from tinyc.analysis.poly.view import PolyView, poly_view
from tinyc.diagnostics import TinycError
from tinyc.dialects.poly.decode import decode_block, plain_data, text_of, texts_of
from tinyc.dialects.poly.encode import encode_edge, encode_item, encode_view
from tinyc.dialects.poly.op_verifier import RELATIONS, relation_texts
from tinyc.dialects.poly.ops import BlockOp, EdgeOp, NonScopOp, ViewOp
from tinyc.expr.isl import TooHard
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import body_of
from tinyc.mlir.side_table import tables_of
from tinyc.mlir.verifying import Violation, report_violations
from tinyc.vocabulary.element_type import ElementType

_MAX_TEXT = 20_000
_MAX_BRACKETS = 500


def read_view(view: ViewOp) -> PolyView:
    """The Poly-View that a verified op lists; its edges follow from its blocks, and must be those that it lists.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    function, members = view.function.value, body_of(view)
    items = with_producers(read_item(each) for each in members if not isinstance(each, EdgeOp))
    edges = edges_of([item for item in items if isinstance(item, PolyBlock)])
    listed = [_listed(each) for each in members if isinstance(each, EdgeOp)]
    counts = [[len(edge.of(kind)) for kind in DEPENDENCE_KINDS] for edge in edges]
    expected = [(edge.source.name, edge.target.name, *each) for edge, each in zip(edges, counts, strict=True)]
    if listed != expected:
        message = f"the view of @{function} lists the edges {listed}; its blocks give {expected}"
        raise TinycError("InvalidAttribute", message)
    elements = {name: ElementType(element) for name, element in plain_data(view.elements).items()}
    return PolyView(function, items, edges, texts_of(view.attributes, "outputs"), elements, view.constants)


def _listed(edge: EdgeOp) -> tuple[str | int, ...]:
    return edge.source.value, edge.target.value, *(len(texts_of(edge.attributes, kind)) for kind in DEPENDENCE_KINDS)


def read_item(op: ir.OpView) -> PolyItem:
    """The item that a `poly.block` or a `poly.non_scop` stands for.

    Raises:
        TinycError: `InvalidAttribute`, `ExcessivePiecewise`.
    """
    if isinstance(op, NonScopOp):
        return NonScopTensor(text_of(op.attributes, "name"), op.reason.value, texts_of(op.attributes, "reads"))
    try:
        return decode_block(op.attributes)
    except NotReadable as error:
        raise TinycError("InvalidAttribute", str(error)) from None


def verify(module: ir.Module) -> bool:
    """Compare every view with the recomputed one; report each difference at its op, and whether there was none."""
    known = {function.sym_name.value: function for function in functions_of(module)}
    found = (each for table in tables_of(module, ViewOp) for each in _differences(table, known))
    return report_violations(_remedied(found))


def _remedied(differences: Iterable[Violation]) -> Iterator[Violation]:
    return ((location, f"{message}; run --tiny-to-poly again, or erase the view") for location, message in differences)


def _differences(view: ViewOp, known: Mapping[str, func.FuncOp]) -> Iterator[Violation]:
    name = view.function.value
    edges = [op for op in body_of(view) if isinstance(op, EdgeOp)]
    items = [op for op in body_of(view) if not isinstance(op, EdgeOp)]
    names = [text_of(op.attributes, "name") for op in items]
    if name not in known:
        yield view.location, f"'poly.view' is about @{name}, and there is no such function"
        return
    if not is_graph(known[name]):
        yield view.location, f"'poly.view' is about @{name}, which is not a Tiny graph any more"
        return
    needed = Needed(known[name])
    count, constants = len(needed.reads), len(needed.constants)
    is_whole = len(names) == count and len(view.constants) == constants
    expected = poly_view(known[name], names, _buffers(items), constants=view.constants) if is_whole else None
    if len(view.constants) != constants:
        yield view.location, f"'poly.view' has {len(view.constants)} constants, and @{name} gives {constants}"
    elif expected is None:
        yield view.location, f"'poly.view' has {len(items)} blocks and Non-SCoP tensors, and @{name} gives {count}"
    elif len(set(names)) < len(names):
        yield view.location, "'poly.view' has two blocks of one name"
    elif len(edges) != len(expected.edges):
        yield view.location, f"'poly.view' has {len(edges)} edges, and @{name} gives {len(expected.edges)}"
    else:
        for message in _differing(view, encode_view(expected)[1], None, None):
            yield view.location, f"'poly.view' of @{name}: {message}"
        yield from _compare(items, edges, expected)


def _buffers(items: Iterable[ir.OpView]) -> dict[str, str]:
    """In which memory the tensors lie that share one: the view says that, not the function."""
    found = {text_of(op.attributes, "name"): op.attrs for op in items if isinstance(op, BlockOp)}
    return {name: attrs["buffer"].value for name, attrs in found.items() if "buffer" in attrs}


def _compare(items: list[ir.OpView], edges: list[EdgeOp], expected: PolyView) -> Iterator[Violation]:
    for op, item in zip(items, expected.items, strict=True):
        kind, attributes = encode_item(item)
        if not isinstance(op, kind):
            yield op.location, f"'{op.operation.name}' {item.name} is a '{kind.OPERATION_NAME}'"
            continue
        domain = item.statement.domain_text if isinstance(item, PolyBlock) else None
        for message in _differing(op, attributes, domain, None):
            yield op.location, f"'{kind.OPERATION_NAME}' {item.name}: {message}"
    for op, edge in zip(edges, expected.edges, strict=True):
        domains = edge.source.statement.domain_text, edge.target.statement.domain_text
        for message in _differing(op, encode_edge(edge)[1], *domains):
            yield op.location, f"'poly.edge' {edge.source.name} to {edge.target.name}: {message}"


def _differing(
    op: ir.OpView, expected: Mapping[str, ir.Attribute], domain: str | None, image: str | None
) -> Iterator[str]:
    """How the attributes of `op` differ from the expected ones; maps matter from `domain` to `image` only."""
    for name, attribute in expected.items():
        found = op.attributes[name]
        if found == attribute:
            continue
        if name not in RELATIONS or len(relation_texts(found)) != len(relation_texts(attribute)):
            yield f"'{name}' is {attribute}, not {found}"
            continue
        for theirs, ours in zip(relation_texts(found), relation_texts(attribute), strict=True):
            problem = _isl_difference(theirs, ours, None if name == "domain" else domain, image)
            if problem:
                yield f"'{name}' {problem}"


def _isl_difference(found: str, expected: str, domain: str | None, image: str | None) -> str | None:
    """How two sets or maps differ (maps from `domain` to `image` only), or None."""
    if found == expected:
        return None
    if len(found) > _MAX_TEXT or found.count("(") + found.count("[") > _MAX_BRACKETS:
        return f"is a text of {len(found)} characters; isl is not asked to read that"
    from tinyc.analysis.isl.polyhedra import Unreadable, same_text  # islpy takes its time to load

    try:
        same = same_text(found, expected, domain, image)
    except (TooHard, Unreadable) as error:
        return f"is {found}, and cannot be compared with {expected}: {error}"
    return None if same else f"is {expected}, not {found}"
