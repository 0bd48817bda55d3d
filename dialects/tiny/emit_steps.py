"""Steps as Tiny ops: what a formula, or an importer, has added to `Steps` becomes IR at the insertion point."""

from collections.abc import Callable, MutableMapping, Sequence

from tinyc.dialects.tiny import ops as tiny
from tinyc.expr.assumption import Assumption
from tinyc.formulas.steps import TypedStep
from tinyc.mlir import ir
from tinyc.mlir.locations import location_of
from tinyc.vocabulary.attributes import encode, to_type
from tinyc.vocabulary.types import TensorType


class StepEmitter:
    """Emits steps; `values` has the IR value of each number, `types` each MLIR type once: making one is dear."""

    def __init__(self, values: MutableMapping[int, ir.Value], types: dict[TensorType, ir.Type] | None = None) -> None:
        self.values = values
        self.types: dict[TensorType, ir.Type] = {} if types is None else types

    def type(self, tensor: TensorType) -> ir.Type:
        """The MLIR type of a tensor."""
        if tensor not in self.types:
            self.types[tensor] = to_type(tensor)
        return self.types[tensor]

    def assume(self, assumptions: Sequence[Assumption] | dict[Assumption, None]) -> None:
        """Emit relations between extents, each at the node that relies on it."""
        for each in assumptions:
            sides = (str(each.lhs), each.predicate, str(each.rhs))
            tiny.AssumeOp(*map(ir.StringAttr.get, sides), loc=location_of(each.where) or ir.Location.unknown())

    def emit(self, step: TypedStep, locate: Callable[[TypedStep], ir.Location]) -> None:
        """Emit a step."""
        op = tiny.create(
            step.op,
            [self.values[operand] for operand in step.operands],
            encode(step.op, step.arguments, step.types[0].element, step.types[0].rank),
            [self.type(tensor) for tensor in step.types],
            locate(step),
        )
        for value, result in enumerate(op.results, step.first):
            self.values[value] = result
