"""The attributes of the ops of a Poly-View as data: the inverse of `encode`.

Sets and maps are read as `analysis/isl/notation` has them. Raises `TinycError` for what cannot be read or contradicts
itself (`InvalidAttribute`), and for accesses that no analysis takes (`ExcessivePiecewise`).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeGuard

from tinyc.analysis.isl.notation import Bound, NotReadable, Relation, read_relation
from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.movement import Guard
from tinyc.analysis.poly.block import PolyAccess, PolyBlock, access_excess
from tinyc.diagnostics import TinycError
from tinyc.expr import extents
from tinyc.expr.axes import AxisExpr
from tinyc.expr.extents import Dim, ExtentError
from tinyc.mlir import ir
from tinyc.vocabulary.element_type import BY_NAME


def decode_block(attributes: ir.OpAttributeMap) -> PolyBlock:
    """The block that a `poly.block` with these attributes is.

    Raises:
        NotReadable: a set or a map is said in another way than `encode` does.
        TinycError: the attributes contradict each other, or a floor division has no guard.
    """
    name, values = text_of(attributes, "name"), plain_data(attributes["attrs"])
    element, buffer, renamed = values.pop("element", None), values.pop("buffer", None), values.pop("parameters", {})
    if element not in BY_NAME:
        raise _malformed(f"'attrs' has the element type {element}; it must be one of {', '.join(BY_NAME)}")
    if not isinstance(buffer, str | None) or not is_record(renamed):
        raise _malformed(f"'attrs' must have a name as buffer, not {buffer}, and texts as parameters, not {renamed}")
    texts = _Texts(name, {each: _extent(text) for each, text in renamed.items()})
    domain = texts.relation("domain", text_of(attributes, "domain"))
    statement = _statement(domain, renamed)
    write = texts.relation("write", text_of(attributes, "write"), domain)
    relations = [texts.relation("accesses", each, domain) for each in texts_of(attributes, "accesses")]
    guards = list(_guards(texts, domain, _pads(values.pop("pads", [])), relations))
    _require_division_guards(statement, domain, texts.floors)
    accesses = tuple(
        PolyAccess(each.tensor or "", each.index, found) for each, found in zip(relations, guards, strict=True)
    )
    for access in accesses:
        if (reason := access_excess(access, statement.shape)) is not None:
            code, _, counts = reason.partition(": ")
            raise TinycError(code, f"'{name}': {counts}")
    return PolyBlock(text_of(attributes, "kind"), statement, write.index, accesses, BY_NAME[element], values, buffer)


class _Texts:
    """Reads the sets and maps of one block, and gathers their floor divisions by the texts that they stand in."""

    def __init__(self, name: str, extents_of: Mapping[str, Dim]) -> None:
        self.name, self._extents_of = name, extents_of
        self.floors: dict[AxisExpr, tuple[str, int]] = {}

    def relation(self, what: str, text: str, domain: Relation | None = None) -> Relation:
        try:
            found = read_relation(text, self._extents_of)
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
    shape: list[Dim] = []
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
    found: list[Mapping[str, Any]] = []
    for pad in values if _is_list(values) else [values]:
        if not is_record(pad) or {*pad} != {*kinds} or not all(isinstance(pad[k], kinds[k]) for k in kinds):
            raise _malformed(f"'pads' has {pad}; it must have {{access = 0, inside = a set, value = a number}}")
        found.append(pad)
    return found


def is_record(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is plain data by names."""
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _guards(
    texts: _Texts, domain: Relation, pads: list[Mapping[str, Any]], relations: list[Relation]
) -> Iterator[tuple[Guard, ...]]:
    """The guards of each access: their sets stand in the access, and with their values in `pads`."""
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


def text_of(attributes: ir.OpAttributeMap, name: str) -> str:
    """The string that an attribute is."""
    attribute = attributes[name]
    if not isinstance(attribute, ir.StringAttr):
        raise _malformed(f"'{name}' is {attribute}, not a string")
    return attribute.value


def texts_of(attributes: ir.OpAttributeMap, name: str) -> tuple[str, ...]:
    """The strings that an attribute lists."""
    attribute = attributes[name]
    items = tuple(attribute) if isinstance(attribute, ir.ArrayAttr) else ()
    found = tuple(item.value for item in items if isinstance(item, ir.StringAttr))
    if not isinstance(attribute, ir.ArrayAttr) or len(found) < len(items):
        raise _malformed(f"'{name}' is {attribute}, not a list of strings")
    return found


def plain_data(attribute: ir.Attribute) -> Any:
    """An attribute as plain data: bool, int, float, str, list, dict."""
    if isinstance(attribute, ir.DictAttr):
        return {each.name: plain_data(each.attr) for each in (attribute[k] for k in range(len(attribute)))}
    if isinstance(attribute, ir.ArrayAttr):
        return [plain_data(each) for each in attribute]
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    raise _malformed(f"{attribute} is not plain data")


def _extent(text: Any) -> Dim:
    try:
        return extents.parse_extent(text)
    except (ExtentError, TypeError) as error:
        raise _malformed(f"'parameters' has {text!r}: {error}") from None


def _malformed(message: str) -> TinycError:
    return TinycError("InvalidAttribute", message)
