"""The parts of a Poly-View as attributes; `decode` is the inverse."""

from typing import Any

from tinyc.analysis.poly.block import NonScopTensor, PolyItem
from tinyc.analysis.poly.edge import KINDS, PolyEdge
from tinyc.analysis.poly.view import PolyView
from tinyc.mlir import ir
from tinyc.side_table import Row, number_attribute


def encode_view(view: PolyView) -> dict[str, Any]:
    """Return the attributes of the `poly.view` of a view, besides the name of the function."""
    return {"elements": _attribute(view.elements), "outputs": _attribute(view.outputs)}


def encode_item(item: PolyItem) -> Row:
    """Return the name and the attributes of the op that stands for an item of a view."""
    if isinstance(item, NonScopTensor):
        values = {"name": item.name, "reason": item.reason, "reads": item.reads}
        return "poly.non_scop", {name: _attribute(value) for name, value in values.items()}
    statement = item.statement
    renamed = {name: extent for extent, name in statement.parameters if extent != name}
    pads = item.pads
    more = {
        "element": item.element,
        **({"buffer": item.buffer} if item.buffer else {}),
        **({"parameters": renamed} if renamed else {}),
        **({"pads": pads} if pads else {}),
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


def encode_edge(edge: PolyEdge) -> Row:
    """Return the name and the attributes of the op that stands for an edge."""
    texts = {kind: edge.texts(kind) for kind in KINDS}
    values = {"source": edge.source.name, "target": edge.target.name, **texts}
    return "poly.edge", {name: _attribute(value) for name, value in values.items()}


def _attribute(value: Any) -> Any:
    if isinstance(value, bool | int | float):
        return number_attribute(value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, dict):
        return ir.DictAttr.get({name: _attribute(each) for name, each in value.items()})
    return ir.ArrayAttr.get([_attribute(each) for each in value])
