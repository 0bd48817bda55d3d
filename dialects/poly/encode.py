"""The parts of a Poly-View as attributes."""

from typing import Any

from tinyc.analysis.poly_view import NonScopTensor, PolyBlock, PolyEdge
from tinyc.mlir import ir


def encode_item(item: PolyBlock | NonScopTensor) -> tuple[str, dict[str, Any]]:
    """Return the name and the attributes of the op that stands for an item of a view."""
    if isinstance(item, NonScopTensor):
        return "poly.non_scop", {"name": _attribute(item.name), "reason": _attribute(item.reason)}
    statement = item.statement
    accesses = [statement.access_text(each.tensor, each.index, each.guards) for each in item.accesses]
    values = {
        "name": item.name,
        "kind": item.kind,
        "domain": statement.domain_text,
        "write": statement.access_text(item.name, item.write),
        "accesses": accesses,
        "attrs": dict(item.attributes),
    }
    return "poly.block", {name: _attribute(value) for name, value in values.items()}


def encode_edge(edge: PolyEdge) -> dict[str, Any]:
    """Return the attributes of a `poly.edge`."""
    true = [str(dependence) for dependence in edge.true]
    values = {"source": edge.source.name, "target": edge.target.name, "true": true, "anti": [], "output": []}
    return {name: _attribute(value) for name, value in values.items()}


def _attribute(value: Any) -> Any:
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        wrapped = value - 2**64 if value >= 2**63 else value
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), wrapped)
    if isinstance(value, float):
        return ir.FloatAttr.get_f64(value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, dict):
        return ir.DictAttr.get({name: _attribute(each) for name, each in value.items()})
    return ir.ArrayAttr.get([_attribute(each) for each in value])
