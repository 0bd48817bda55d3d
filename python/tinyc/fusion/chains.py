"""Chains: a product, the rows in front of it that reduce, and the product that these are made of, as one kernel.

Two of the three together have none of the tiles that products are fast in, so that no pair of them is fused; of all
three a scheme may have tiles of its own, as it has of attention.
"""

from collections.abc import Callable, Iterator, Sequence

from tinyc.fusion.graph import FusionNode, NodeKind
from tinyc.fusion.group import Group, with_group
from tinyc.fusion.judge import Judge
from tinyc.fusion.ledger import Verdict
from tinyc.fusion.partition import Partition

#: Notes a verdict for the edges from a node into groups.
Note = Callable[[FusionNode, Sequence[Group], Verdict], None]


class Chains:
    """The chains of a partition."""

    def __init__(self, partition: Partition, judge: Judge, note: Note) -> None:
        self._partition, self._judge, self._note = partition, judge, note

    def fuse(self) -> None:
        """Make one kernel of each chain that pays as one: last ones first."""
        for node in reversed(list(self._partition.graph.nodes.values())):
            last = self._partition.writer(node.name)
            if last is not None and _has_product(last) and node.name == min(last.results):
                self._fuse_behind(last)

    def _fuse_behind(self, last: Group) -> None:
        """Fuse a product with a chain in front of it, the first that pays."""
        for between in [each for each in self._writers(last) if _reduces(each) and not _has_product(each)]:
            for first in self._writers(between):
                if not _has_product(first) or first is last:
                    continue
                chain = [last, between, first]
                merged = self._merged(chain)
                if merged is None:
                    continue
                verdict = self._partition.entered_again(chain, merged) or self._judge.fused(chain, [merged], "loops")
                if verdict.fused:
                    for producer, consumer in ((between, last), (first, between)):
                        for name in producer.results:
                            self._note(self._partition.graph.nodes[name], [consumer], verdict)
                    self._partition.replace(chain, merged)
                    return

    def _writers(self, group: Group) -> Iterator[Group]:
        """Yield the groups that write what a group reads, each once."""
        found = (self._partition.writer(name) for name in group.reads if name in self._partition.graph.nodes)
        yield from dict.fromkeys(each for each in found if each is not None and each is not group)

    def _merged(self, chain: Sequence[Group]) -> Group | None:
        """The groups of a chain as one that writes what the last one does, and what is read elsewhere."""
        merged, *producers = chain
        for producer in producers:
            grown = with_group(
                merged,
                producer,
                lambda each, producer=producer: (
                    each.name in producer.results and self._partition.is_read_elsewhere(each, chain)
                ),
            )
            if isinstance(grown, Verdict):
                return None
            merged = grown
        return merged


def _has_product(group: Group) -> bool:
    return any(anchor.node.kind is NodeKind.CONTRACTION for anchor in group.anchors)


def _reduces(group: Group) -> bool:
    return not group.ordered and not group.is_inline
