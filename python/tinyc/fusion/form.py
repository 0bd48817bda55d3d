"""The form of a group: all that its price depends on, but for what its anchors compute where they read it.

Two groups of one form differ by the names of their tensors, and by the element-wise nodes that are composed away: the
layers of a network, and the steps by which a chain grows. What takes time to find out is found once for a form.
"""

from tinyc.analysis.poly.block import PolyAccess
from tinyc.analysis.poly_core.inlining import INLINE
from tinyc.fusion.group import Anchor, Group

Form = tuple[object, ...]


def form_of(group: Group) -> Form:
    """The form of a group: its anchors, with numbers for the names of tensors, and the types of what it moves."""
    own = [anchor.node.name for anchor in group.anchors]
    numbers = {name: number for number, name in enumerate([*own, *group.reads])}
    types, position = group.graph.types, group.graph.position
    results = sorted(group.results, key=position.__getitem__)
    return (
        bool(group.ordered),
        tuple([_anchor_form(anchor, numbers, group) for anchor in group.anchors]),
        tuple([types[name] for name in group.reads]),
        tuple([(numbers.get(name), types[name]) for name in results]),
    )


def _anchor_form(anchor: Anchor, numbers: dict[str, int], group: Group) -> Form:
    block, node = anchor.block, anchor.node
    reads = tuple([(numbers[read.tensor], read.index, read.guards) for read in block.accesses])
    form = (node.kind, node.is_special, block.kind, block.statement.shape, block.write, block.element, reads)
    if block.kind in INLINE:
        return form
    return (*form, repr(block.attributes), *(_operand_form(read, group) for read in node.operands))


def _operand_form(read: PolyAccess, group: Group) -> Form:
    return read.index, read.guards, group.exact_elements(read.tensor)
