"""`tinyc explain --fusion-svg`: the graph of a program with a frame around each region.

In: a formation. Out: a drawing. A value is drawn in each region that computes it; what is between two regions is drawn
from the one that writes it. Constants and the like, which are made where they are read, are left out.
"""

from collections.abc import Iterator

from tinyc.explain.drawing import Drawing, DrawnEdge, DrawnValue
from tinyc.explain.fusion import evidence_text
from tinyc.explain.subject import short
from tinyc.fusion.graph import FusionNode, NodeKind
from tinyc.fusion.ledger import Decision, RegionEntry
from tinyc.fusion.regions import Formation, Region


def fusion_drawing(formation: Formation) -> Drawing:
    """The drawing of a formation."""
    return _Drawn(formation).drawing()


class _Drawn:
    def __init__(self, formation: Formation) -> None:
        self.formation, self.graph = formation, formation.graph
        ledger = formation.ledger
        self.entries = dict(zip((each.name for each in ledger.regions), ledger.regions, strict=True))
        self.regions = dict(zip(self.entries, formation.regions, strict=True))
        self.writers = {tensor: name for name, region in self.regions.items() for tensor in region.results}
        self.decisions = {(each.source, each.target): each for each in ledger.decisions}

    def drawing(self) -> Drawing:
        """All values with all edges."""
        titles = {name: (_title(entry), _terms(entry)) for name, entry in self.entries.items()}
        edges = list(dict.fromkeys(self._edges()))
        read = {edge.source for edge in edges}
        inputs = (name for name in self.graph.types if name not in self.graph.nodes)
        values = [DrawnValue(name, self._lines(name), "input") for name in inputs if name in read]
        return Drawing([*values, *self._computed(), *self._returned()], edges, titles)

    def _lines(self, name: str) -> tuple[str, ...]:
        node = self.graph.nodes.get(name)
        made = () if node is None else (short(node.op),)
        return self.graph.labels[name], *made, str(self.graph.types[name])

    def _computed(self) -> Iterator[DrawnValue]:
        """The values of each region, and those that are another's buffer under another shape."""
        for name, region in self.regions.items():
            yield from (DrawnValue(_inside(name, each), self._lines(each), group=name) for each in region.members)
        views = (node.name for node in self.graph.nodes.values() if node.kind is NodeKind.VIEW)
        yield from (DrawnValue(name, self._lines(name)) for name in views)

    def _returned(self) -> Iterator[DrawnValue]:
        for name in self.graph.outputs:
            yield DrawnValue(_result(name), (f"return {self.graph.labels[name]}",), "output")

    def _edges(self) -> Iterator[DrawnEdge]:
        """What each value reads, in each region that computes it, and what is returned."""
        for name, region in self.regions.items():
            for member in region.members:
                yield from self._reads(self.graph.nodes[member], name, region)
        for node in self.graph.nodes.values():
            if node.kind is NodeKind.VIEW:
                yield from self._reads(node, None, None)
        for name in self.graph.outputs:
            yield DrawnEdge(self._source(name, None, None), _result(name), "kept")

    def _reads(self, node: FusionNode, name: str | None, region: Region | None) -> Iterator[DrawnEdge]:
        target = node.name if name is None else _inside(name, node.name)
        for tensor in node.reads:
            maker = self.graph.nodes.get(tensor)
            is_inside = region is not None and tensor in region.members
            if maker is None or maker.kind is not NodeKind.LEAF or is_inside:
                decision = self.decisions.get((self.graph.labels[tensor], node.label))
                kind = "fused" if is_inside else "kept"
                yield DrawnEdge(
                    self._source(tensor, name, region), target, kind, "" if decision is None else _said(decision)
                )

    def _source(self, tensor: str, name: str | None, region: Region | None) -> str:
        """The drawn value that a region reads a tensor from: its own, or that of the region that writes it."""
        if region is not None and name is not None and tensor in region.members:
            return _inside(name, tensor)
        return _inside(self.writers[tensor], tensor) if tensor in self.writers else tensor


def _inside(region: str, name: str) -> str:
    return f"{region}/{name}"


def _result(name: str) -> str:
    return f"return/{name}"


def _title(entry: RegionEntry) -> str:
    return f"{entry.name}: {entry.scheme}, {entry.cost.get('us', 0):g} us"


def _terms(entry: RegionEntry) -> str:
    loops = f"loops: {' × '.join(entry.loops)}" if entry.loops else "no common loops"
    return "\n".join([loops, *(f"{term}: {value:g}" for term, value in entry.cost.items())])


def _said(decision: Decision) -> str:
    edge = f"{decision.source} -> {decision.target}: {decision.verdict} ({decision.rule})"
    return f"{edge}\n{evidence_text(decision)}\nwhat would flip it: {decision.flip}"
