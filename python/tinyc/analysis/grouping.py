"""Which compute ops of a Tiny function share a kernel.

A group is what one kernel will compute, in program order; its outputs are the results of its last op. For now: a
contraction takes its product and the maximal chain of single-consumer element-wise ops behind it; a sum takes the
product that only it reads; every other compute op is alone. Movements and leaves belong to no group, nor do the
widening casts of what a contraction's kernel reads: each kernel that needs them has its own copy.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tinyc.analysis.patterns.contraction import Contraction, detect_contraction, is_summed_product, is_widening
from tinyc.analysis.tiny_ops import producer_of
from tinyc.diagnostics import remark
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.ops import CastOp, ReduceOp, TinyOp
from tinyc.mlir import ir
from tinyc.mlir.locations import where
from tinyc.vocabulary.attributes import vocabulary_name


@dataclass(frozen=True)
class Group:
    """The compute ops of one kernel, in program order; a contraction has a pattern, and casts that it reads through."""

    ops: tuple[ir.OpView, ...]
    pattern: str | None = None
    casts: frozenset[ir.OpView] = frozenset()

    @property
    def outputs(self) -> list[ir.OpResult]:
        """The values that the kernel writes: the results of its last op."""
        return list(self.ops[-1].results)


def groups_of(block: ir.Block) -> list[Group]:
    """The groups of a Tiny block, ordered by their last op."""
    former = _Former(block)
    for op in block.operations:
        if isinstance(op, ReduceOp):
            former.reduction(op)
    groups = [replace(group, casts=former.casts(group)) if group.pattern else group for group in former.all()]
    return sorted(groups, key=lambda group: former.position[group.ops[-1]])


class _Former:
    def __init__(self, block: ir.Block) -> None:
        self.block = block
        self.position = {op: k for k, op in enumerate(block.operations)}
        self.taken: dict[ir.OpView, Group] = {}

    def reduction(self, op: ReduceOp) -> None:
        """Form the group of a reduction: its product, itself, and behind a contraction the chain of its consumers."""
        product = producer_of(op.operand) if is_summed_product(op) else None
        found = None if product is None else detect_contraction(op)
        members = (op,) if product is None else (product, op)
        if isinstance(found, Contraction) and found.has_mma_shape:
            group = Group((*members, *self._chain(op)), found.pattern)
        else:
            group = Group(members)
        for member in group.ops:
            self.taken[member] = group

    def _chain(self, op: ReduceOp) -> list[ir.OpView]:
        """The maximal chain of element-wise ops behind `op`, each the only consumer of the one before."""
        chain: list[ir.OpView] = []
        while True:
            consumers = {use.owner for use in (chain[-1] if chain else op).results[0].uses}
            stop = self._stop(consumers)
            if stop is not None:
                _remark_epilogue(op, chain, stop)
                return chain
            chain.append(next(iter(consumers)))

    def _stop(self, consumers: set[ir.OpView]) -> str | None:
        """The place at which the chain stops, for people, or None where it goes on."""
        if len(consumers) != 1:
            return f"{len(consumers)} consumers" if consumers else "a result that nothing reads"
        (consumer,) = consumers
        if not isinstance(consumer, tiny.ElementwiseOp):
            return f"'{consumer.name}'"
        if consumer in self.taken or any(map(is_summed_product, _reduce_readers(consumer))):
            return "a product of another reduction"
        return None

    def casts(self, group: Group) -> frozenset[ir.OpView]:
        """The widening casts that a contraction reads through; every group must be formed by now."""
        operands = [operand for member in group.ops for operand in member.operands]
        return frozenset(cast for operand in operands for cast in self._widening_casts(operand))

    def _widening_casts(self, value: ir.Value) -> Iterator[ir.OpView]:
        """The widening casts that `value` is reached through, below movements and in no other group's chain."""
        op = producer_of(value)
        while op is not None and op not in self.taken:
            if isinstance(op, CastOp) and is_widening(op):
                yield op
            elif not isinstance(op, tiny.MovementOp):
                return
            op = producer_of(op.operands[0])

    def all(self) -> Iterator[Group]:
        """Yield every group once: those of the reductions, and one for each compute op that is in none."""
        seen: set[int] = set()
        for op in self.block.operations:
            if not isinstance(op, TinyOp) or isinstance(op, tiny.MovementOp | tiny.LeafOp):
                continue  # movements and leaves cost no kernel
            group = self.taken.get(op) or Group((op,))
            if id(group) not in seen:
                seen.add(id(group))
                yield group


def _reduce_readers(op: ir.OpView) -> list[ReduceOp]:
    return [use.owner for use in op.results[0].uses if isinstance(use.owner, ReduceOp)]


def _remark_epilogue(op: ReduceOp, chain: list[ir.OpView], stop: str) -> None:
    names = list(map(vocabulary_name, chain))
    remark(
        "epilogue",
        where(op.location),
        f"fused epilogue ({', '.join(names) or 'none'}) into the contraction; stopped at {stop}",
        ops=names,
        stopped=stop,
    )
