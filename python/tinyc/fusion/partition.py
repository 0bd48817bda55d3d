"""Which groups compute which nodes, while regions are formed: what reads a node, and what would have to run when."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

from tinyc.fusion.graph import FusionGraph, FusionNode, NodeKind
from tinyc.fusion.group import Group, members_of
from tinyc.fusion.ledger import Verdict, refusal

#: Nodes that are looked at for a way around a group; where there are more, nodes stay apart.
_MAX_VISITED = 64


class _Kernel:
    """A kernel of the partition: its group is another one whenever it grows."""

    def __init__(self, group: Group) -> None:
        self.group = group


class Partition:
    """The groups so far. A node may be in several, which compute it each; one of them at most writes it."""

    def __init__(self, graph: FusionGraph) -> None:
        self.graph = graph
        self._kernels: dict[Group, _Kernel] = {}
        self._computed: dict[str, dict[_Kernel, None]] = {}  # each node by the kernels that compute it

    @property
    def groups(self) -> list[Group]:
        """All groups, each once."""
        return list(self._kernels)

    def of(self, name: str) -> Sequence[Group]:
        """The groups that compute a node."""
        return [each.group for each in self._computed.get(name, ())]

    def writer(self, name: str) -> Group | None:
        """The group that writes a node to memory."""
        found = (each.group for each in self._computed.get(name, ()))
        return next((each for each in found if name in each.results), None)

    def readers(self, node: FusionNode) -> list[Group]:
        """The groups that read a node as a statement does, each once, in program order."""
        found: dict[Group, None] = {}
        for reader in node.readers:
            if node.name not in self.graph.nodes[reader].wholes:
                found |= dict.fromkeys(self.of(reader))
        return sorted(found, key=lambda group: group.first)

    def is_read_elsewhere(self, node: FusionNode, groups: Sequence[Group]) -> bool:
        """Whether a node is returned, or read by others than some groups, which may compute the same readers."""
        if node.is_output:
            return True
        inside, known = members_of(groups), set(groups)
        if any(reader not in inside or node.name in self.graph.nodes[reader].wholes for reader in node.readers):
            return True
        return any(not known.issuperset(self.of(reader)) for reader in node.readers)

    def add(self, group: Group) -> None:
        """Put a group beside the others."""
        self._become(_Kernel(group), group, group.members)

    def replace(self, old: Sequence[Group], new: Group) -> None:
        """Put one group in the place of others: the largest becomes it, so that only what it lacks is looked at."""
        largest = max(old, key=lambda group: len(group.members))
        for each in old:
            if each is not largest:
                self.drop(each)
        kernel = self._kernels.pop(largest)
        self._leave(kernel, largest.members - new.members)
        self._become(kernel, new, new.members - largest.members)

    def drop(self, group: Group) -> None:
        """Take a group out."""
        self._leave(self._kernels.pop(group), group.members)

    def _become(self, kernel: _Kernel, group: Group, joined: Iterable[str]) -> None:
        kernel.group = group
        self._kernels[group] = kernel
        for name in joined:
            self._computed.setdefault(name, {})[kernel] = None

    def _leave(self, kernel: _Kernel, names: Iterable[str]) -> None:
        for name in names:
            del self._computed[name][kernel]

    def entered_again(self, parts: Sequence[Group], proposal: Group) -> Verdict | None:
        """Why a proposed group cannot run as one: something outside of it needs a part of it, and is needed by one."""
        inside = proposal.members
        start = min(part.first for part in parts)
        pending = [each for each in proposal.reads if each not in inside and self._may_reach(each, start)]
        needed_by: dict[str, str] = {}
        seen: set[str] = set()
        while pending:
            tensor = pending.pop()
            if tensor in seen:
                continue
            writer = self.writer(tensor)
            made = {tensor} if writer is None else writer.members
            if not made.isdisjoint(inside):
                return self._cycle(needed_by[tensor] if tensor in inside else tensor, needed_by)
            seen |= made
            reads = self.graph.nodes[tensor].reads if writer is None else writer.reads
            further = [each for each in reads if each not in seen and self._may_reach(each, start)]
            pending += further
            for each in further:
                needed_by.setdefault(each, tensor)
            if len(seen) > _MAX_VISITED and any(self.graph.position[each] > start for each in pending):
                sentence = (
                    f"more than {_MAX_VISITED} nodes lie between its parts, which might need one and be needed by one"
                )
                return refusal("limit", sentence, "fewer nodes between them", visited=len(seen))
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

    def _may_reach(self, tensor: str, start: int) -> bool:
        """Whether what makes a tensor may need a node from position `start` on."""
        node = self.graph.nodes.get(tensor)
        if node is None:
            return False
        writer = self.writer(tensor)
        return (self.graph.position[tensor] if writer is None else writer.last) >= start

    def in_order(self) -> list[Group]:
        """All groups, each behind those that it needs."""
        groups = self.groups
        by_result = {name: number for number, group in enumerate(groups) for name in group.results}
        ranked = sorted(range(len(groups)), key=lambda k: groups[k].last)
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
