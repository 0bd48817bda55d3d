"""What holds for Poly-Views: a view lists blocks, Non-SCoP tensors and edges, and says what the analysis says.

A view is compared with the recomputed one item by item. The names of tensors are taken from the view, because name
locations do not survive as text; sets and maps are compared by isl, as sets and maps.
"""

import re
from collections.abc import Iterator
from typing import Any

from tinyc import side_table
from tinyc.analysis.graphs import is_graph
from tinyc.analysis.isl.notation import NotReadable
from tinyc.analysis.limits import TooHard
from tinyc.analysis.poly.block import BLOCK_KINDS, PolyBlock
from tinyc.analysis.poly.edge import KINDS
from tinyc.analysis.poly.reads import Needed
from tinyc.analysis.poly.view import PolyView, poly_view
from tinyc.diagnostics import TinycError
from tinyc.dialects.poly.decode import read_block
from tinyc.dialects.poly.encode import encode_edge, encode_item, encode_view
from tinyc.dialects.tiny.types import ELEMENTS
from tinyc.dialects.tiny.verify import functions
from tinyc.mlir import body_of, ir

_MEMBERS = ("poly.block", "poly.non_scop", "poly.edge")
_TEXTS = ("name", "kind", "domain", "write", "reason", "source", "target")
_RELATION_LISTS = ("accesses", *KINDS)
_LISTS = (*_RELATION_LISTS, "reads", "outputs")
_RELATIONS = ("domain", "write", *_RELATION_LISTS)
_DIVISION = re.compile(r"\b(floor|floord|ceild|mod)\b|%")
_MAX_TEXT = 20_000
_MAX_BRACKETS = 500


def views(module: Any) -> list[Any]:
    """Return the views of a module."""
    return side_table.tables(module, "poly.view")


def check_op(op: Any) -> None:
    """Check a `poly` op by itself.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    attributes = op.operation.attributes
    if op.operation.name == "poly.view":
        _check_view(op)
    for name in _TEXTS:
        if name in attributes and not isinstance(attributes[name], ir.StringAttr):
            raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}, not a string")
    for name in _LISTS:
        if name in attributes and not _is_texts(attributes[name]):
            raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}, not a list of strings")
    if "kind" in attributes and attributes["kind"].value not in BLOCK_KINDS:
        raise TinycError("InvalidAttribute", f"kind {attributes['kind']} is none of {', '.join(BLOCK_KINDS)}")
    if "attrs" in attributes and not isinstance(attributes["attrs"], ir.DictAttr):
        raise TinycError("InvalidAttribute", f"'attrs' is {attributes['attrs']}, not a dictionary")
    if op.operation.name == "poly.block":
        _check_block(op)


def _check_block(op: Any) -> None:
    """Check that a block reads back; a set or map in another form is left to isl, where it divides nothing."""
    try:
        read_block(op)
    except NotReadable as error:
        attributes = op.operation.attributes
        texts = [text for name in _RELATIONS if name in attributes for text in _texts(attributes[name])]
        if any(_DIVISION.search(text) for text in texts):
            raise TinycError("InvalidAttribute", str(error)) from None


def _is_texts(attribute: Any) -> bool:
    return isinstance(attribute, ir.ArrayAttr) and all(isinstance(item, ir.StringAttr) for item in attribute)


def _is_element(attribute: Any) -> bool:
    return isinstance(attribute, ir.StringAttr) and attribute.value in ELEMENTS


def _check_view(op: Any) -> None:
    side_table.check_table(op, _MEMBERS)
    elements = op.operation.attributes["elements"]
    if not isinstance(elements, ir.DictAttr) or not all(_is_element(each.attr) for each in elements):
        raise TinycError("InvalidAttribute", f"'elements' is {elements}, not element types by the names of tensors")


def verify(module: Any) -> bool:
    """Compare every view with the recomputed one; report each difference at its op, and whether there was none."""
    known = {function.operation.attributes["sym_name"].value: function for function in functions(module)}
    remedy = "run --tiny-to-poly again, or erase the view"
    return side_table.verify_tables(
        views(module), lambda view: ((at, f"{message}; {remedy}") for at, message in _differences(view, known))
    )


def _differences(view: Any, known: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    name = view.operation.attributes["function"].value
    items = [op for op in body_of(view) if op.operation.name != "poly.edge"]
    edges = [op for op in body_of(view) if op.operation.name == "poly.edge"]
    names = [op.operation.attributes["name"].value for op in items]
    if name not in known:
        yield view.location, f"'poly.view' is about @{name}, and there is no such function"
        return
    if not is_graph(known[name]):
        yield view.location, f"'poly.view' is about @{name}, which is no Tiny graph any more"
        return
    count = len(Needed(known[name]).reads)
    expected = poly_view(known[name], names, _buffers(items)) if len(names) == count else None
    if expected is None:
        yield view.location, f"'poly.view' has {len(items)} blocks and Non-SCoP tensors, and @{name} gives {count}"
    elif len(set(names)) < len(names):
        yield view.location, "'poly.view' has two blocks of one name"
    elif len(edges) != len(expected.edges):
        yield view.location, f"'poly.view' has {len(edges)} edges, and @{name} gives {len(expected.edges)}"
    else:
        for message in _differing(view, encode_view(expected), None, None):
            yield view.location, f"'poly.view' of @{name}: {message}"
        yield from _compare(items, edges, expected)


def _buffers(items: list[Any]) -> dict[str, str]:
    """Return in which memory the tensors lie that share one: the view says that, not the function."""
    blocks = [op.operation.attributes for op in items if op.operation.name == "poly.block"]
    return {each["name"].value: each["attrs"]["buffer"].value for each in blocks if "buffer" in each["attrs"]}


def _compare(items: list[Any], edges: list[Any], expected: PolyView) -> Iterator[tuple[Any, str]]:
    for op, item in zip(items, expected.items, strict=True):
        kind, attributes = encode_item(item)
        if kind != op.operation.name:
            yield op.location, f"'{op.operation.name}' {item.name} is a '{kind}'"
            continue
        domain = item.statement.domain_text if isinstance(item, PolyBlock) else None
        for message in _differing(op, attributes, domain, None):
            yield op.location, f"'{kind}' {item.name}: {message}"
    for op, edge in zip(edges, expected.edges, strict=True):
        domains = edge.source.statement.domain_text, edge.target.statement.domain_text
        for message in _differing(op, encode_edge(edge)[1], *domains):
            yield op.location, f"'poly.edge' {edge.source.name} to {edge.target.name}: {message}"


def _differing(op: Any, expected: dict[str, Any], domain: str | None, image: str | None) -> Iterator[str]:
    """Yield how the attributes of `op` differ from the expected ones; maps matter from `domain` to `image` only."""
    for name, attribute in expected.items():
        found = op.operation.attributes[name]
        if found == attribute:
            continue
        if name not in _RELATIONS or len(_texts(found)) != len(_texts(attribute)):
            yield f"'{name}' is {attribute}, not {found}"
            continue
        for theirs, ours in zip(_texts(found), _texts(attribute), strict=True):
            problem = _isl_difference(theirs, ours, None if name == "domain" else domain, image)
            if problem:
                yield f"'{name}' {problem}"


def _texts(attribute: Any) -> list[str]:
    return [attribute.value] if isinstance(attribute, ir.StringAttr) else [item.value for item in attribute]


def _isl_difference(found: str, expected: str, domain: str | None, image: str | None) -> str | None:
    """Return how two sets or maps differ (maps from `domain` to `image` only), or None."""
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
