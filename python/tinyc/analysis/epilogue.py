"""What a contraction's kernel does after the sum: the ops by name, and the inputs that they read.

In: the reduction of a kernel and what it writes. Out: an `Epilogue`. What stands there is element-wise
(`tiled_reduction`), so every index is the output's.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tinyc.analysis import axes
from tinyc.analysis.access import Access, extend
from tinyc.analysis.activation import activation_of
from tinyc.analysis.axes import Shape
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.analysis.tiny_ops import is_elementwise, is_leaf, is_movement, producer_of
from tinyc.dialects.tiny.attributes import tensor_type


@dataclass(frozen=True)
class EpilogueInput:
    """A `region.read` of the epilogue, and how its elements follow those of an output tile.

    `kind` is "row" (one for each row), "column", "full", "scalar", or "gather" (any other way, or several ways).
    """

    read: Any
    kind: str


@dataclass(frozen=True)
class Epilogue:
    """The ops after the sum, in order: `bias`, `residual`, `relu`, `silu`, `gelu`, others by their Tiny names.

    A bias is an operand added along the rows or the columns only, a residual one that is added in full; casts are
    not listed. `inputs` are in the order of their reads.
    """

    ops: tuple[str, ...]
    inputs: tuple[EpilogueInput, ...]


@dataclass(frozen=True)
class TileAxes:
    """The axes of the output that are the rows of a tile, and those that are its columns."""

    rows: frozenset[int]
    columns: frozenset[int]


def tile_axes(contraction: Contraction) -> TileAxes:
    """Return the axes of the reduction's result that play m and those that play n."""
    kept = [position for position in range(len(contraction.domain)) if position not in contraction.reduced]
    roles = contraction.axis_roles
    return TileAxes(frozenset(map(kept.index, roles.m)), frozenset(map(kept.index, roles.n)))


def epilogue_of(contraction: Contraction, result: Any) -> Epilogue:
    """Return what is between the sum of `contraction` and `result`, the value that its kernel writes."""
    return _Reader(contraction, result).epilogue()


class _Reader:
    def __init__(self, contraction: Contraction, result: Any) -> None:
        self.sum = contraction.reduce.operation.results[0]
        self.tile = tile_axes(contraction)
        self.domain: Shape = tensor_type(self.sum.type).shape
        self.slice = _slice(result, self.sum)
        self.summed = self._dependent()
        self.found: dict[Any, set[str]] = {}

    def epilogue(self) -> Epilogue:
        """Return the ops and the inputs."""
        for op in self.slice:
            if op in self.summed:
                for operand in op.operands:
                    self._inputs_of(operand)
        reads = [op for op in self.slice if op in self.found]
        inputs = tuple(EpilogueInput(read, _joined(self.found[read])) for read in reads)
        return Epilogue(tuple(self._words()), inputs)

    def _dependent(self) -> set[Any]:
        """Return the ops of the slice that need the sum; the slice is in program order."""
        found: set[Any] = set()
        for op in self.slice:
            owners = {producer_of(operand) for operand in op.operands}
            if self.sum in op.operands or owners & found:
                found.add(op)
        return found

    # --- the inputs ---------------------------------------------------------------------------------------------------

    def _inputs_of(self, operand: Any) -> None:
        """Note the reads below an operand that does not need the sum."""
        if operand == self.sum or producer_of(operand) in self.summed:
            return
        for read, kind in self._kinds(operand):
            self.found.setdefault(read, set()).add(kind)

    def _kinds(self, value: Any) -> Iterator[tuple[Any, str]]:
        """Yield the reads below `value`, which has the output's axes, each with a kind."""
        pending = [Access(value, axes.identity(self.domain))]
        for access in pending:
            access, fault = extend(access, self.domain, _is_transparent)
            op = producer_of(access.source)
            if op is None or is_leaf(op):
                continue
            if op.name == "region.read" and fault is None:
                yield op, self._kind(access)
            elif is_elementwise(op) and fault is None:
                below = (replace(access, source=operand) for operand in op.operands)
                pending.extend(each for each in below if each not in pending)
            else:
                yield from ((each, "gather") for each in _slice(access.source, self.sum) if each.name == "region.read")

    def _kind(self, access: Access) -> str:
        used = frozenset().union(*map(axes.positions, access.expressions))
        by_row, by_column = bool(used & self.tile.rows), bool(used & self.tile.columns)
        return {(True, True): "full", (True, False): "row", (False, True): "column"}.get((by_row, by_column), "scalar")

    # --- the ops ------------------------------------------------------------------------------------------------------

    def _words(self) -> list[str]:
        """Return the names of the ops, those of a known activation as one."""
        words: list[str] = []
        covered: set[Any] = set()
        for op in reversed(self.slice):
            if op in covered or not is_elementwise(op) or op.name == "tiny.cast":
                continue
            activation = activation_of(op.results[0])
            if activation is not None and activation.ops <= set(self.slice):
                covered |= activation.ops
                words.append(activation.name)
            else:
                words.append(self._word(op))
        return words[::-1]

    def _word(self, op: Any) -> str:
        if op.name == "tiny.add" and op in self.summed:
            others = [operand for operand in op.operands if self._is_apart(operand)]
            kinds = {kind for other in others for _, kind in self._kinds(other)}
            if len(others) == 1 and len(kinds) == 1:
                return {"row": "bias", "column": "bias", "full": "residual"}.get(kinds.pop(), "add")
        return op.name.removeprefix("tiny.")

    def _is_apart(self, operand: Any) -> bool:
        return operand != self.sum and producer_of(operand) not in self.summed


def _is_transparent(op: Any) -> bool:
    return is_movement(op) or (is_elementwise(op) and len(op.operands) == 1)


def _joined(kinds: set[str]) -> str:
    return next(iter(kinds)) if len(kinds) == 1 else "gather"


def _slice(result: Any, end: Any) -> list[Any]:
    """Return the ops that compute `result`, in program order, down to the value `end`, whose op is not among them."""
    found: set[Any] = set()
    pending = [result]
    while pending:
        value = pending.pop()
        op = producer_of(value)
        if value != end and op is not None and op not in found:
            found.add(op)
            pending.extend(op.operands)
    if not found:
        return []
    return [op.operation for op in next(iter(found)).block.operations if op.operation in found]
