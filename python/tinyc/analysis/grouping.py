"""Which compute ops of a Tiny function share a kernel.

A group is what one kernel will compute, in program order; its outputs are the results of its last op. For now: a
contraction takes its product and the maximal chain of single-consumer element-wise ops behind it; a sum takes the
product that only it reads; every other compute op is alone. Movements and leaves belong to no group, nor do the
widening casts of what a contraction's kernel reads: each kernel that needs them has its own copy.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tinyc.analysis.patterns.contraction import Contraction, detect, is_summed_product, is_widening
from tinyc.analysis.tiny_ops import is_elementwise, is_leaf, is_movement, producer_of
from tinyc.diagnostics import remark
from tinyc.text import where


@dataclass(frozen=True)
class Group:
    """The compute ops of one kernel, in program order; a contraction has a pattern, and casts that it reads through."""

    ops: tuple[Any, ...]
    pattern: str | None = None
    casts: frozenset[Any] = frozenset()

    @property
    def outputs(self) -> list[Any]:
        """The values that the kernel writes: the results of its last op."""
        return list(self.ops[-1].operation.results)


def _is_free(op: Any) -> bool:
    """Say whether an op costs no kernel: a movement or a leaf."""
    return is_movement(op.operation) or is_leaf(op.operation)


def groups_of(block: Any) -> list[Group]:
    """Return the groups of a Tiny block, ordered by their last op."""
    former = _Former(block)
    for op in block.operations:
        if op.operation.name == "tiny.reduce":
            former.reduction(op)
    groups = [replace(group, casts=former.casts(group)) if group.pattern else group for group in former.all()]
    return sorted(groups, key=lambda group: former.position[group.ops[-1].operation])


class _Former:
    def __init__(self, block: Any) -> None:
        self.block = block
        self.position = {op.operation: k for k, op in enumerate(block.operations)}
        self.taken: dict[Any, Group] = {}

    def reduction(self, op: Any) -> None:
        """Form the group of a reduction: its product, itself, and behind a contraction the chain of its consumers."""
        product = [op.operation.operands[0].owner] if is_summed_product(op) else []
        found = detect(op) if product else None
        if isinstance(found, Contraction) and found.has_mma_shape:
            group = Group((*product, op, *self._chain(op)), found.pattern)
        else:
            group = Group((*product, op))
        for member in group.ops:
            self.taken[member.operation] = group

    def _chain(self, op: Any) -> list[Any]:
        """Return the maximal chain of element-wise ops behind `op`, each the only consumer of the one before."""
        chain: list[Any] = []
        while True:
            consumers = {use.owner.operation for use in (chain[-1] if chain else op).operation.results[0].uses}
            reason = self._stop(consumers)
            if reason is not None:
                _remark_epilogue(op, chain, reason)
                return chain
            chain.append(next(iter(consumers)).opview)

    def _stop(self, consumers: set[Any]) -> str | None:
        """Return why the chain ends before its consumers, or None where it goes on."""
        if len(consumers) != 1:
            return "nothing consumes it" if not consumers else f"{len(consumers)} ops consume it"
        (consumer,) = consumers
        if not is_elementwise(consumer):
            return f"'{consumer.name}' consumes it"
        if consumer in self.taken or any(is_summed_product(use.owner) for use in _reduce_uses(consumer)):
            return "its consumer forms the products of another reduction"
        return None

    def casts(self, group: Group) -> frozenset[Any]:
        """Return the widening casts that a contraction reads through; every group must be formed by now."""
        operands = [operand for member in group.ops for operand in member.operation.operands]
        return frozenset(cast for operand in operands for cast in self._widening_casts(operand))

    def _widening_casts(self, value: Any) -> Iterator[Any]:
        """Yield the widening casts that `value` is reached through, below movements and in no other group's chain."""
        op = producer_of(value)
        while op is not None and op not in self.taken:
            if op.name == "tiny.cast" and is_widening(op):
                yield op
            elif not is_movement(op):
                return
            op = producer_of(op.operands[0])

    def all(self) -> Iterator[Group]:
        """Yield every group once: those of the reductions, and one for each compute op that is in none."""
        seen: set[int] = set()
        for op in self.block.operations:
            name = op.operation.name
            if not name.startswith("tiny.") or _is_free(op) or name == "tiny.assume":
                continue
            group = self.taken.get(op.operation) or Group((op,))
            if id(group) not in seen:
                seen.add(id(group))
                yield group


def _reduce_uses(op: Any) -> list[Any]:
    return [use for use in op.results[0].uses if use.owner.operation.name == "tiny.reduce"]


def _remark_epilogue(op: Any, chain: list[Any], reason: str) -> None:
    names = [member.operation.name.removeprefix("tiny.") for member in chain]
    remark(
        "epilogue",
        where(op.location),
        f"the contraction takes {len(chain)} element-wise ops ({', '.join(names) or 'none'}) and stops there: {reason}",
        ops=names,
        stopped=reason,
    )
