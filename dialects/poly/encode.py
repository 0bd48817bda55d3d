"""The parts of a Poly-View as attributes; `decode` is the inverse."""

from typing import Any

from tinyc.analysis.poly.block import NonScopTensor, PolyItem
from tinyc.analysis.poly.edge import DEPENDENCE_KINDS, PolyEdge
from tinyc.analysis.poly.view import PolyView
from tinyc.dialects.poly.decode import is_record
from tinyc.dialects.poly.ops import BlockOp, EdgeOp, NonScopOp, ViewOp
from tinyc.mlir import ir
from tinyc.mlir.side_table import TableRow, number_attribute


def encode_view(view: PolyView) -> TableRow:
    """The class and the attributes of the op that stands for a view, besides the name of the function."""
    constants = {"constants": _attribute(view.constants)} if view.constants else {}
    return ViewOp, {"elements": _attribute(view.elements), "outputs": _attribute(view.outputs), **constants}


def encode_item(item: PolyItem) -> TableRow:
    """The class and the attributes of the op that stands for an item of a view."""
    if isinstance(item, NonScopTensor):
        values = {"name": item.name, "reason": item.reason, "reads": item.reads}
        return NonScopOp, {name: _attribute(value) for name, value in values.items()}
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
    return BlockOp, {name: _attribute(value) for name, value in values.items()}


def encode_edge(edge: PolyEdge) -> TableRow:
    """The class and the attributes of the op that stands for an edge."""
    texts = {kind: edge.texts(kind) for kind in DEPENDENCE_KINDS}
    values = {"source": edge.source.name, "target": edge.target.name, **texts}
    return EdgeOp, {name: _attribute(value) for name, value in values.items()}


def _attribute(value: Any) -> ir.Attribute:
    if isinstance(value, bool | int | float):
        return number_attribute(value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if is_record(value):
        return ir.DictAttr.get({name: _attribute(each) for name, each in value.items()})
    return ir.ArrayAttr.get([_attribute(each) for each in value])
