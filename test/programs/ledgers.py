"""Whether a ledger has each edge of a graph once, and says what the regions of the formation are."""

from tinyc.fusion.graph import NodeKind
from tinyc.fusion.ledger import FUSION_RULES

#: Rules by which nothing is decided without numbers, a witness or a limit as evidence.
WITH_EVIDENCE = {"cost", "inline", "loops", "recompute", "legality", "halo"}
#: The reason of an edge within a kernel that no step was proposed for.
ALREADY = "both are in the kernel already"


def assert_consistent(formation):
    """Check that a ledger has each edge of the graph once, says why, and says what the regions are."""
    graph, ledger = formation.graph, formation.ledger
    edges = [(node.label, graph.labels[reader]) for node in graph.nodes.values() for reader in node.readers]
    assert [(each.source, each.target) for each in ledger.decisions] == edges
    in_memory = {(name, node.label) for node in graph.nodes.values() for name in map(graph.labels.get, node.wholes)}
    for each in ledger.decisions:
        assert each.rule in FUSION_RULES
        assert each.reason
        assert each.flip
        assert each.evidence or each.rule not in WITH_EVIDENCE or each.reason == ALREADY, each
        inside = [each.source in region.ops for region in ledger.regions if each.target in region.ops]
        is_inside = bool(inside) and all(inside) and (each.source, each.target) not in in_memory
        assert each.verdict == ("fused" if each.rule == "leaf" or is_inside else "kept"), each
    _assert_complete(formation)
    for entry in ledger.regions:
        for each in entry.siblings:
            assert {*each.one, *each.other} <= {*entry.ops}
            assert {"apart_us", "fused_us", "saved_bytes"} <= each.evidence.keys()


def _assert_complete(formation):
    """Check that each region writes what no other writes, and reads what one does, an input, or a view."""
    graph, regions = formation.graph, formation.regions
    assert not any({*region.reads} & {*region.results} for region in regions)
    written = [name for region in regions for name in region.results]
    assert len(written) == len(set(written))
    computed = {name for name, node in graph.nodes.items() if node.kind is not NodeKind.VIEW}
    for region in regions:
        assert {*region.reads} & computed <= {*written}, region
    for region in formation.regions:
        read = {name for each in formation.regions if each is not region for name in each.reads}
        for node in map(graph.nodes.__getitem__, region.results):
            is_viewed = any(graph.nodes[reader].kind is NodeKind.VIEW for reader in node.readers)
            assert node.is_output or is_viewed or node.name in read, f"nothing reads '{node.label}', which is written"
