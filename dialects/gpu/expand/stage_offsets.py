"""Where stages begin in shared memory: as offsets that loops carry, beside the numbers of stages that they carry.

A loop that goes through a circular buffer carries the number of a stage, as an i32, and each statement would multiply
it by the bytes of a tile. Offsets that are carried instead, ``offset = 0 if stage is the last, else offset + size``,
stay in uniform registers, and an instruction of shared memory takes one beside a thread's own address and a number.

In: a loop, or a stage, of the kernel of statements. Out: what the loop has to carry, or where the stage begins.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from tinyc.codegen.words import AnyWord, Word, equals, word_where
from tinyc.dialects.gpu.dialect import staged_tile
from tinyc.dialects.gpu.statements import CpAsyncOp, LdmatrixOp, LoadFragmentOp, LoadTileOp
from tinyc.mlir import arith, ir, scf

#: The statements that address a stage's tile by threads.
_BY_THREADS = (CpAsyncOp, LdmatrixOp, LoadFragmentOp, LoadTileOp)


@dataclass(frozen=True)
class Carried:
    """What a loop carries: the stage that is its `number`th value, times `size`."""

    number: int
    size: int


@dataclass(frozen=True)
class StageOffsets:
    """The offsets of stages; `values` are what the values of the kernel of statements have become."""

    values: Mapping[ir.Value, ir.Value]
    _known: dict[tuple[ir.Value, int], Word] = field(default_factory=dict[tuple[ir.Value, int], Word])

    def of(self, stage: ir.Value, size: int) -> AnyWord:
        """Emit the offset of a stage, of tiles of `size` bytes: from one that is carried, or by a multiplication."""
        if (stage, size) in self._known:
            return self._known[stage, size]
        op = stage.owner
        if isinstance(op, arith.ConstantOp):
            return ir.IntegerAttr(op.value).value * size
        if not self._is_carried(stage, size):
            return Word.of(self.values[stage]) * size
        if isinstance(op, arith.SelectOp):
            taken, other = (self.of(each, size) for each in (op.true_value, op.false_value))
            return word_where(self._condition(op.condition, size), taken, other)
        if isinstance(op, arith.AddIOp):
            return self.of(op.lhs, size) + self.of(op.rhs, size)
        assert isinstance(op, arith.IndexCastOp)  # the others that have sources
        return self.of(op.in_, size)

    def _condition(self, condition: ir.Value, size: int) -> ir.Value:
        """Emit a comparison of stages as one of offsets."""
        op = condition.owner
        equal = arith.CmpIPredicate.eq
        if (
            isinstance(op, arith.CmpIOp)
            and ir.IntegerAttr(op.predicate).value == equal
            and self._is_carried(op.lhs, size)
        ):
            return equals(self.of(op.lhs, size), self.of(op.rhs, size))
        return self.values[condition]

    def _is_carried(self, stage: ir.Value, size: int) -> bool:
        return any((each, size) in self._known for each in _sources(stage))

    def carried(self, loop: scf.ForOp, buffers: Container[ir.Value]) -> list[Carried]:
        """What a loop has to carry for the statements in its body that work on some buffers."""
        stages: list[ir.Value] = list(loop.inner_iter_args)
        yielded = list(loop.body.operations[len(loop.body.operations) - 1].operands)
        found: dict[Carried, None] = {}
        open_ones: list[tuple[ir.Value, int]] = [
            (op.stage, staged_tile(op.tiles.type).layout.size_bytes)
            for op in loop.body.operations
            if isinstance(op, _BY_THREADS) and op.tiles in buffers
        ]
        while open_ones:
            value, size = open_ones.pop()
            for source in _sources(value):
                each = Carried(stages.index(source), size) if source in stages else None
                if each is not None and each not in found:
                    found[each] = None
                    open_ones.append((yielded[each.number], size))
        return list(found)

    def note(self, stage: ir.Value, size: int, offset: ir.Value) -> None:
        """Record the offset of a stage that a loop carries."""
        self._known[stage, size] = Word(offset)


def _sources(stage: ir.Value) -> Iterator[ir.Value]:
    """Yield the arguments of blocks that a stage is computed from, by additions and choices of numbers."""
    op = stage.owner
    if isinstance(op, ir.Block):
        yield stage
        return
    if isinstance(op, arith.SelectOp):
        operands = [op.true_value, op.false_value]
    elif isinstance(op, arith.AddIOp | arith.IndexCastOp):
        operands = list(op.operands)
    else:
        return
    for each in operands:
        yield from _sources(each)
