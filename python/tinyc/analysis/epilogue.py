"""What a contraction's kernel does after the reduction: the ops by name, and the inputs that they read.

In: the reduction of a kernel and what it writes. Out: an `Epilogue`. What stands there is element-wise
(`result_places`), so every index is the output's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tinyc.analysis.access import Access, extend
from tinyc.analysis.activation import activation_of
from tinyc.analysis.candidate import Epilogue
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.dialects.region import ops as region
from tinyc.dialects.tiny import ops as tiny
from tinyc.expr import axes
from tinyc.expr.axes import Shape
from tinyc.mlir import ir
from tinyc.vocabulary.attributes import tensor_type, vocabulary_name
from tinyc.vocabulary.broadcast import Broadcast


def epilogue_of(contraction: Contraction, results: Sequence[ir.Value]) -> Epilogue:
    """The ops between the reduction of `contraction` and `results`, the values that its kernel writes."""
    return _Reader(contraction, results).epilogue()


class _Reader:
    """Reads the ops between a reduction and results: `slice` are all that compute these, `fused` those that follow.

    Where a movement is among those, `is_moved`, what they read follows the accumulators in any way.
    """

    def __init__(self, contraction: Contraction, results: Sequence[ir.Value]) -> None:
        self.reduced: ir.Value = contraction.reduce.results[0]
        self.results = results
        self.rows, self.columns, _ = map(frozenset, contraction.result_sides)
        self.domain: Shape = tensor_type(self.reduced.type).shape
        self.slice = _slice(results, self.reduced)
        self.fused = self._fused()
        self.is_moved = any(isinstance(op, tiny.MovementOp) for op in self.fused)
        self.found: dict[ir.OpView, set[Broadcast]] = {}

    def epilogue(self) -> Epilogue:
        """The ops and the inputs."""
        for op in self.slice:
            if op in self.fused:
                for operand in filter(self._is_apart, op.operands):
                    self._find(operand)
        for value in filter(self._is_apart, self.results):  # what another result is made of
            self._find(value)
        reads = [op for op in self.slice if op in self.found]
        return Epilogue(tuple(self._words()), tuple(_joined(self.found[read]) for read in reads))

    def _find(self, value: ir.Value) -> None:
        """Note the reads below a value that does not need the reduction."""
        for read, broadcast in self._broadcasts(value):
            self.found.setdefault(read, set()).add(broadcast)

    def _fused(self) -> set[ir.OpView]:
        """The ops of the slice that need the reduction; the slice is in program order."""
        found = set[ir.OpView]()
        for op in self.slice:
            if any(operand == self.reduced or operand.owner in found for operand in op.operands):
                found.add(op)
        return found

    def _is_apart(self, operand: ir.Value) -> bool:
        """Whether an operand does not need the reduction."""
        return operand != self.reduced and operand.owner not in self.fused

    # --- the inputs ---------------------------------------------------------------------------------------------------

    def _broadcasts(self, value: ir.Value) -> Iterator[tuple[ir.OpView, Broadcast]]:
        """Yield the reads below `value`, and how each is broadcast: in any way where it has not the output's axes."""
        if self.is_moved or tensor_type(value.type).shape != self.domain:
            reads = (each for each in _slice([value], self.reduced) if isinstance(each, region.ReadOp))
            yield from ((each, Broadcast.GATHER) for each in reads)
            return
        pending = [Access(value, axes.identity(self.domain))]
        for access in pending:
            access, fault = extend(access, self.domain, _is_transparent)
            op = access.source.owner
            if not isinstance(op, ir.OpView) or isinstance(op, tiny.LeafOp):
                continue
            if isinstance(op, region.ReadOp) and fault is None:
                yield op, self._broadcast(access)
            elif isinstance(op, tiny.ElementwiseOp) and fault is None:
                below = (replace(access, source=operand) for operand in op.operands)
                pending.extend(each for each in below if each not in pending)
            else:
                reads = (each for each in _slice([access.source], self.reduced) if isinstance(each, region.ReadOp))
                yield from ((each, Broadcast.GATHER) for each in reads)

    def _broadcast(self, access: Access) -> Broadcast:
        used = frozenset[int]().union(*map(axes.positions, access.expressions))
        by_row, by_column = bool(used & self.rows), bool(used & self.columns)
        if by_row and by_column:
            return Broadcast.FULL
        if by_row:
            return Broadcast.ROW
        return Broadcast.COLUMN if by_column else Broadcast.SCALAR

    # --- the ops ------------------------------------------------------------------------------------------------------

    def _words(self) -> list[str]:
        """The names of the ops, those of a known activation as one."""
        words: list[str] = []
        covered = set[ir.OpView]()
        for op in reversed(self.slice):
            if op in covered or not isinstance(op, tiny.ElementwiseOp) or isinstance(op, tiny.CastOp):
                continue
            activation = activation_of(op.result)
            if activation is not None and activation.ops <= set(self.slice):
                covered |= activation.ops
                words.append(activation.name)
            else:
                words.append(self._word(op))
        return words[::-1]

    def _word(self, op: ir.OpView) -> str:
        if isinstance(op, tiny.AddOp) and op in self.fused:
            others = [operand for operand in op.operands if self._is_apart(operand)]
            broadcasts = {broadcast for other in others for _, broadcast in self._broadcasts(other)}
            if len(others) == 1 and len(broadcasts) == 1:
                names = {Broadcast.ROW: "bias", Broadcast.COLUMN: "bias", Broadcast.FULL: "residual"}
                return names.get(broadcasts.pop(), "add")
        return vocabulary_name(op)


def _is_transparent(op: ir.OpView) -> bool:
    return isinstance(op, tiny.MovementOp) or (isinstance(op, tiny.ElementwiseOp) and len(op.operands) == 1)


def _joined(broadcasts: set[Broadcast]) -> Broadcast:
    return next(iter(broadcasts)) if len(broadcasts) == 1 else Broadcast.GATHER


def _slice(results: Sequence[ir.Value], end: ir.Value) -> list[ir.OpView]:
    """The ops that compute `results`, in program order, down to the value `end`, whose op is not among them."""
    found = set[ir.OpView]()
    pending = list(results)
    while pending:
        value = pending.pop()
        op = value.owner
        if value != end and isinstance(op, ir.OpView) and op not in found:
            found.add(op)
            pending.extend(op.operands)
    if not found:
        return []
    return [op for op in next(iter(found)).operation.block.operations if op in found]
