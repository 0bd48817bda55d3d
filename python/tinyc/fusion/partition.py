"""Which groups compute which nodes, while regions are formed: what reads a node, and what would have to run when."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from tinyc.fusion.graph import FusionGraph, FusionNode, NodeKind
from tinyc.fusion.group import Group, members_of
from tinyc.fusion.ledger import Verdict, refusal

#: Groups that are looked at for a way around a group; where there are more, nodes stay apart.
_MAX_VISITED = 64


class Partition:
    """The groups so far. A node may be in several, which compute it each; one of them at most writes it."""

    def __init__(self, graph: FusionGraph) -> None:
        self.graph = graph
        self._groups: dict[str, list[Group]] = {}

    @property
    def groups(self) -> list[Group]:
        """All groups, each once."""
        return list({id(each): each for found in self._groups.values() for each in found}.values())

    def of(self, name: str) -> Sequence[Group]:
        """The groups that compute a node."""
        return self._groups.get(name, ())

    def writer(self, name: str) -> Group | None:
        """The group that writes a node to memory."""
        return next((each for each in self.of(name) if name in each.results), None)

    def readers(self, node: FusionNode) -> list[Group]:
        """The groups that read a node as a statement does, each once, in program order."""
        found: dict[int, Group] = {}
        for reader in node.readers:
            if node.name not in self.graph.nodes[reader].wholes:
                found |= {id(each): each for each in self.of(reader)}
        return sorted(found.values(), key=lambda group: group.first)

    def is_read_elsewhere(self, node: FusionNode, groups: Sequence[Group]) -> bool:
        """Whether a node is returned, or read by others than some groups, which may compute the same readers."""
        inside = members_of(groups)
        if node.is_output:
            return True
        if any(reader not in inside or node.name in self.graph.nodes[reader].wholes for reader in node.readers):
            return True
        known = {id(each) for each in groups}
        return any(id(each) not in known for reader in node.readers for each in self.of(reader))

    def replace(self, old: Sequence[Group], new: Group) -> None:
        """Put one group in the place of others."""
        for each in old:
            self.drop(each)
        for name in new.sequence:
            self._groups.setdefault(name, []).append(new)

    def drop(self, group: Group) -> None:
        """Take a group out."""
        for name in group.members:
            self._groups[name] = [each for each in self._groups[name] if each is not group]

    def entered_again(self, parts: Sequence[Group], proposal: Group) -> Verdict | None:
        """Why a proposed group cannot run as one: something outside of it needs a part of it, and is needed by one."""
        inside = proposal.members
        start = min(part.first for part in parts)
        needed_by: dict[str, str] = {}
        pending = [tensor for tensor in proposal.reads if tensor not in inside]
        seen: set[str] = set()
        while pending:
            tensor = pending.pop()
            node = self.graph.nodes.get(tensor)
            if node is None or tensor in seen:
                continue
            seen.add(tensor)
            for name in self._made_with(tensor):
                if name in inside:
                    return self._cycle(needed_by[tensor] if tensor in inside else tensor, needed_by)
                seen.add(name)
                for each in self.graph.nodes[name].reads:
                    if each not in seen:
                        needed_by.setdefault(each, tensor)
                        pending.append(each)
            if len(seen) > _MAX_VISITED and any(
                self.graph.position[each] > start for each in pending if each in self.graph.nodes
            ):
                sentence = (
                    f"more than {_MAX_VISITED} nodes lie between its parts, which might need one and be needed by one"
                )
                return refusal("limit", sentence, "fewer nodes between them", visited=len(seen))
            pending = [each for each in pending if self._may_reach(each, start)]
        return None

    def _cycle(self, tensor: str, needed_by: Mapping[str, str]) -> Verdict:
        """The verdict where what makes a tensor is a part of a group that needs the tensor, by way of others."""
        way = [tensor]
        while way[-1] in needed_by:
            way.append(needed_by[way[-1]])
        through = [self.graph.labels[name] for name in way]
        sentence = f"'{through[-1]}' would have to run before the kernel, which it is made of, and behind it"
        if len(through) > 1:
            sentence = f"{sentence}: by way of {', '.join(map(repr, reversed(through[:-1])))}"
        return refusal("cycle", sentence, f"fusing '{through[-1]}', too", through=through[::-1])

    def needs_itself(self, group: Group) -> bool:
        """Whether a group needs what it writes, by way of other groups (True: not known)."""
        start = min(self.graph.position[name] for name in group.results)
        pending, seen = list(group.reads), set[str]()
        while pending:
            tensor = pending.pop()
            if tensor in group.results or len(seen) > _MAX_VISITED:
                return True
            if tensor not in seen and self._may_reach(tensor, start):
                seen.add(tensor)
                writer = self.writer(tensor)
                pending += self.graph.nodes[tensor].reads if writer is None else writer.reads
        return False

    def _made_with(self, tensor: str) -> Iterable[str]:
        """The nodes that are computed with a tensor: those of the group that writes it."""
        writer = self.writer(tensor)
        return [tensor] if writer is None else writer.sequence

    def _may_reach(self, tensor: str, start: int) -> bool:
        """Whether what makes a tensor may need a node from position `start` on."""
        node = self.graph.nodes.get(tensor)
        if node is None:
            return False
        last = max(self.graph.position[name] for name in self._made_with(tensor))
        return last >= start

    def in_order(self) -> list[Group]:
        """All groups, each behind those that it needs."""
        groups = self.groups
        by_result = {name: number for number, group in enumerate(groups) for name in group.results}
        ranked = sorted(range(len(groups)), key=lambda k: max(self.graph.position[name] for name in groups[k].results))
        needed = {k: [by_result[t] for t in self._memory(groups[k].reads) if by_result.get(t, k) != k] for k in ranked}
        return [groups[k] for k in TopologicalSorter(needed).static_order()]

    def _memory(self, tensors: Iterable[str]) -> Iterable[str]:
        """Tensors, and below views the tensors that are renamed."""
        for tensor in tensors:
            node = self.graph.nodes.get(tensor)
            if node is not None and node.kind is NodeKind.VIEW:
                yield from self._memory(node.reads)
            else:
                yield tensor
