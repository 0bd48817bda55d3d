"""The parts of a Poly-View as attributes; `decode` is the inverse."""

from typing import Any

from tinyc.analysis.poly_block import NonScopTensor, PolyItem
from tinyc.analysis.poly_edge import KINDS, PolyEdge
from tinyc.analysis.poly_view import PolyView
from tinyc.mlir import ir


def encode_view(view: PolyView) -> dict[str, Any]:
    """Return the attributes of the `poly.view` of a view."""
    function = ir.FlatSymbolRefAttr.get(view.function)
    return {"elements": _attribute(view.elements), "function": function, "outputs": _attribute(view.outputs)}


def encode_item(item: PolyItem) -> tuple[str, dict[str, Any]]:
    """Return the name and the attributes of the op that stands for an item of a view."""
    if isinstance(item, NonScopTensor):
        values = {"name": item.name, "reason": item.reason, "reads": item.reads}
        return "poly.non_scop", {name: _attribute(value) for name, value in values.items()}
    statement = item.statement
    renamed = {name: extent for extent, name in statement.parameters if extent != name}
    more = {
        "element": item.element,
        **({"buffer": item.buffer} if item.buffer else {}),
        **({"parameters": renamed} if renamed else {}),
    }
    values = {
        "name": item.name,
        "kind": item.kind,
        "domain": item.domain_text,
        "write": statement.access_text(item.name, item.write),
        "accesses": [item.access_text(each) for each in item.accesses],
        "attrs": {**item.attributes, **more},
    }
    return "poly.block", {name: _attribute(value) for name, value in values.items()}


def encode_edge(edge: PolyEdge) -> dict[str, Any]:
    """Return the attributes of a `poly.edge`."""
    texts = {kind: edge.texts(kind) for kind in KINDS}
    values = {"source": edge.source.name, "target": edge.target.name, **texts}
    return {name: _attribute(value) for name, value in values.items()}


def _attribute(value: Any) -> Any:
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return ir.FloatAttr.get_f64(value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, dict):
        return ir.DictAttr.get({name: _attribute(each) for name, each in value.items()})
    return ir.ArrayAttr.get([_attribute(each) for each in value])


def _integer(value: int) -> Any:
    """Return `3 : i64`, or `9223372036854775808 : ui64` for what only an unsigned integer holds."""
    if value < 2**63:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(64), value - 2**64)
