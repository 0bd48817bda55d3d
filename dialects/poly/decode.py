"""What the ops of a Poly-View say, as data: the inverse of `encode`.

Sets and maps are read as `analysis/isl/notation` has them. Raises `TinycError` for what cannot be read or contradicts
itself (`InvalidAttribute`), and for accesses that no analysis takes (`ExcessivePiecewise`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tinyc.analysis import extents
from tinyc.analysis.axes import AxisExpr
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.analysis.isl.notation import Bound, NotReadable, Relation, read
from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import NonScopTensor, PolyAccess, PolyBlock, PolyItem, excess, with_producers
from tinyc.analysis.poly.edge import KINDS, edges_of
from tinyc.analysis.poly.view import PolyView
from tinyc.diagnostics import TinycError
from tinyc.dialects.tiny.types import ELEMENTS
from tinyc.mlir import body_of, ir


def decode_view(op: Any) -> PolyView:
    """Return what a verified `poly.view` says; its edges follow from its blocks, and must be those that it lists."""
    function = op.operation.attributes["function"].value
    members = body_of(op)
    items = with_producers(decode_item(each) for each in members if each.operation.name != "poly.edge")
    edges = edges_of([item for item in items if isinstance(item, PolyBlock)])
    listed = [_listed(each) for each in members if each.operation.name == "poly.edge"]
    expected = [(edge.source.name, edge.target.name, *(len(edge.of(kind)) for kind in KINDS)) for edge in edges]
    if listed != expected:
        raise _malformed(f"the view of @{function} lists the edges {listed}; its blocks give {expected}")
    return PolyView(function, items, edges, _names(op, "outputs"), plain(op.operation.attributes["elements"]))


def _listed(op: Any) -> tuple[str | int, ...]:
    attributes = op.operation.attributes
    return attributes["source"].value, attributes["target"].value, *(len(attributes[kind]) for kind in KINDS)


def _names(op: Any, attribute: str) -> tuple[str, ...]:
    return tuple(each.value for each in op.operation.attributes[attribute])


def decode_item(op: Any) -> PolyItem:
    """Return the item that a `poly.block` or a `poly.non_scop` stands for."""
    attributes = op.operation.attributes
    if op.operation.name == "poly.non_scop":
        return NonScopTensor(attributes["name"].value, attributes["reason"].value, _names(op, "reads"))
    try:
        return read_block(op)
    except NotReadable as error:
        raise _malformed(str(error)) from None


def read_block(op: Any) -> PolyBlock:
    """Return the block that a `poly.block` stands for.

    Raises:
        NotReadable: a set or a map is said in another way than `encode` does.
        TinycError: the attributes contradict each other, or a floor division has no guard.
    """
    attributes = op.operation.attributes
    name, values = attributes["name"].value, plain(attributes["attrs"])
    element, buffer, renamed = values.pop("element", None), values.pop("buffer", None), values.pop("parameters", {})
    if element not in ELEMENTS:
        raise _malformed(f"'attrs' has the element type {element}; it must be one of {', '.join(ELEMENTS)}")
    if not isinstance(buffer, str | None) or not isinstance(renamed, dict):
        raise _malformed(f"'attrs' must have a name as buffer, not {buffer}, and texts as parameters, not {renamed}")
    texts = _Texts(name, {each: _extent(text) for each, text in renamed.items()})
    domain = texts.relation("domain", attributes["domain"].value)
    statement = _statement(domain, renamed)
    write = texts.relation("write", attributes["write"].value, domain)
    relations = [texts.relation("accesses", each.value, domain) for each in attributes["accesses"]]
    guards = list(_guards(texts, domain, _pads(values.pop("pads", [])), relations))
    _require_division_guards(statement, domain, texts.floors)
    accesses = tuple(
        PolyAccess(each.tensor or "", each.index, found) for each, found in zip(relations, guards, strict=True)
    )
    for access in accesses:
        if (reason := excess(access, statement.shape)) is not None:
            code, _, counts = reason.partition(": ")
            raise TinycError(code, f"'{name}': {counts}")
    return PolyBlock(attributes["kind"].value, statement, write.index, accesses, element, values, buffer)


class _Texts:
    """Reads the sets and maps of one block, and gathers their floor divisions by the texts that they stand in."""

    def __init__(self, name: str, extents_of: Mapping[str, Dim]) -> None:
        self.name, self._extents_of = name, extents_of
        self.floors: dict[AxisExpr, tuple[str, int]] = {}

    def relation(self, what: str, text: str, domain: Relation | None = None) -> Relation:
        try:
            found = read(text, self._extents_of)
        except (NotReadable, ExtentError) as error:
            raise NotReadable(f"'{what}' is {text}, which does not read: {error}") from None
        if found.name != self.name or (found.tensor is None) != (what in ("domain", "pads")):
            raise _malformed(f"'{what}' is {text}; it must be a {'set' if domain is None else 'map'} of {self.name}[…]")
        if domain is not None and len(found.axes) != len(domain.axes):
            raise _malformed(f"'{what}' is {text}; the domain has {len(domain.axes)} axes")
        for remainder, divisor in found.floors.items():
            self.floors.setdefault(remainder, (what, divisor))
        return found


def _statement(domain: Relation, renamed: Mapping[str, str]) -> Statement:
    shape = []
    for axis, bound in zip(domain.axes, domain.bounds, strict=False):
        position = len(shape)
        if str(bound.expression) != f"i{position}" or bound.size.terms:
            raise NotReadable(
                f"'domain' does not bound the axis {axis} by 0 <= {axis} < size, in the order of the axes"
            )
        shape.append(bound.size.constant)
    if len(shape) < len(domain.axes):
        raise NotReadable(f"'domain' bounds {len(shape)} of {len(domain.axes)} axes")
    parameters = tuple((renamed.get(name, name), name) for name in domain.parameters)
    return Statement(domain.name, domain.axes, tuple(shape), parameters)


def _pads(values: Any) -> list[Mapping[str, Any]]:
    kinds = {"access": int, "inside": str, "value": int | float}
    pads = values if isinstance(values, list) else [values]
    for pad in pads:
        if not isinstance(pad, dict) or {*pad} != {*kinds} or not all(isinstance(pad[k], kinds[k]) for k in kinds):
            raise _malformed(f"'pads' has {pad}; it must have {{access = 0, inside = a set, value = a number}}")
    return pads


def _guards(
    texts: _Texts, domain: Relation, pads: list[Mapping[str, Any]], relations: list[Relation]
) -> Iterator[tuple[Guard, ...]]:
    """Yield the guards of each access: their sets stand in the access, and with their values in `pads`."""
    for number, relation in enumerate(relations):
        own = [pad for pad in pads if pad["access"] == number]
        inside = [bound for pad in own for bound in texts.relation("pads", pad["inside"], domain).bounds]
        if list(relation.bounds) != inside or len(inside) != len(own):
            raise _malformed(
                f"access {number} has the conditions {_shown(relation.bounds)}; 'pads' has {_shown(inside)}"
            )
        yield tuple(
            Guard(bound.expression, bound.size.constant, pad["value"]) for bound, pad in zip(inside, own, strict=True)
        )


def _shown(bounds: Iterable[Bound]) -> str:
    return " and ".join(f"0 <= {bound.expression} < {bound.size}" for bound in bounds) or "none"


def _require_division_guards(
    statement: Statement, domain: Relation, floors: Mapping[AxisExpr, tuple[str, int]]
) -> None:
    """Check that the domain guards each floor division, and has no other condition (specification 000 §3.2, §13)."""
    found = {bound.expression: bound.size for bound in domain.bounds[len(statement.axes) :]}
    for remainder, (what, divisor) in floors.items():
        size = found.pop(remainder, None)
        if size is None or size.terms or size.constant != divisor:
            raise _malformed(
                f"'{what}' has a floor division by {divisor} and 'domain' lacks its guard "
                f"0 <= {statement.affine(remainder)} < {divisor}"
            )
    if found:
        raise NotReadable(f"'domain' has a condition on {statement.affine(next(iter(found)))}; it must be a box")


def plain(attribute: Any) -> Any:
    """Return an attribute as plain data: bool, int, float, str, list, dict."""
    if isinstance(attribute, ir.DictAttr):
        return {each.name: plain(each.attr) for each in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [plain(each) for each in attribute]
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    raise _malformed(f"{attribute} is no plain data")


def _extent(text: Any) -> Dim:
    try:
        return extents.parse(text)
    except (ExtentError, TypeError) as error:
        raise _malformed(f"'parameters' has {text!r}: {error}") from None


def _malformed(message: str) -> TinycError:
    return TinycError("InvalidAttribute", message)
