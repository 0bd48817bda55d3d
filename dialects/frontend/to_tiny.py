"""Frontend → Tiny: each op becomes the Tiny ops of its formula."""

from dataclasses import dataclass
from typing import ClassVar

from tinyc.analysis.graphs import assumptions_of, body_block, functions_of, input_names
from tinyc.diagnostics import TinycError, progress
from tinyc.dialects.frontend.ops import Frontend, FrontendOp
from tinyc.dialects.tiny.emit_steps import StepEmitter
from tinyc.dialects.tiny.ops import erase_unused
from tinyc.expr.assumption import Assumption
from tinyc.formulas.registry import apply_formula
from tinyc.formulas.steps import Steps, TypedStep
from tinyc.formulas.value import Builder
from tinyc.mlir import func, ir
from tinyc.mlir.locations import name_of, named, where
from tinyc.mlir.names import DistinctNames
from tinyc.passes import Pass
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.types import TensorType


@dataclass(frozen=True)
class FrontendToTiny(Pass):
    """Write each Frontend op as the Tiny ops that it is made of.

    Nothing is materialised: what an op reads several times or moves stays a movement, which regions compose into their
    accesses. Sums of 16-bit floats are accumulated in f32, softmax is max-shifted, norms take two passes.

    Requires:
        1. Functions of Frontend ops, Tiny constants and `tiny.assume` in a single block.
    Ensures:
        1. There are Tiny ops only. What a formula relies on stands as a `tiny.assume` in front.
        2. The result of an op keeps its name, a second one is `h#1`; a value on the way to them is called after the op
           and the step, `h.exp2`. No two values get the same name.
    Before:
        func.func @main(%x: tensor<4x3xf32>) -> tensor<4x1xf32> {
          %0 = "frontend.reduce"(%x) {axes = array<i64: 1>, fn = "sum", keepdims = true}
            : (tensor<4x3xf32>) -> tensor<4x1xf32>
          return %0 : tensor<4x1xf32>
        }
    After:
        func.func @main(%x: tensor<4x3xf32>) -> tensor<4x1xf32> {
          %0 = "tiny.reduce"(%x) {axes = array<i64: 1>, op = "sum"} : (tensor<4x3xf32>) -> tensor<4xf32>
          %1 = "tiny.reshape"(%0) : (tensor<4xf32>) -> tensor<4x1xf32>
          return %1 : tensor<4x1xf32>
        }
    Source: specification 000 §2.
    """

    name: ClassVar[str] = "frontend-to-tiny"
    consumes: ClassVar[tuple[str, ...]] = ("frontend",)
    produces: ClassVar[tuple[str, ...]] = ("tiny",)

    def run(self, module: ir.Module) -> None:
        """Rewrite every function of `module`."""
        for function in functions_of(module):
            _Lowering(function).run()


class _Lowering:
    """One function; `assumed` are the relations that it states already."""

    def __init__(self, function: func.FuncOp) -> None:
        self.block = body_block(function)
        self.assumed: dict[Assumption, None] = dict.fromkeys(assumptions_of(self.block))
        self.types: dict[TensorType, ir.Type] = {}
        named_ops = (name for op in self.block.operations if (name := name_of(op.location)) is not None)
        self.names = DistinctNames([*input_names(function), *named_ops])

    def run(self) -> None:
        stated = len(self.assumed)
        ops = [op for op in self.block.operations if isinstance(op, Frontend.Operation)]
        for number, op in enumerate(ops, 1):
            progress("frontend-to-tiny, op", number, len(ops))
            assert isinstance(op, FrontendOp)
            try:
                self._op(op)
            except TinycError as error:
                raise error.at(where(op.location)) from None
        with ir.InsertionPoint.at_block_begin(self.block):
            StepEmitter({}).assume(list(self.assumed)[stated:])
        erase_unused(self.block)

    def _op(self, op: FrontendOp) -> None:
        steps = Steps()
        builder = Builder(steps, where(op.location))
        given = op.named_operands
        operands = {name: builder.value(steps.placeholder(tensor_type(each.type))) for name, each in given.items()}
        kept = [each.number for each in apply_formula(op.schema, builder, operands, op.values)]
        emitter = StepEmitter(dict(enumerate(given.values())), self.types)
        with ir.InsertionPoint(op):
            for step in steps.steps:
                emitter.emit(step, lambda step: self._location(op, step, kept))
        self.assumed.update(steps.assumptions)
        for result, number in zip(op.results, kept, strict=True):
            result.replace_all_uses_with(emitter.values[number])
        op.operation.erase()

    def _location(self, op: FrontendOp, step: TypedStep, kept: list[int]) -> ir.Location:
        """What gives a result is called as the op's result is; what leads there, after the op and the step."""
        name = name_of(op.location)
        if name is None:
            return op.location
        numbers = list(range(step.first, step.first + len(step.types)))
        place = kept.index(step.first) if step.first in kept else None
        if place is None or kept[place : place + len(numbers)] != numbers:  # one location names all of its results
            return named(self.names.new(f"{name}.{step.op}"), op.location)
        return named(f"{name}#{place}", op.location) if place else op.location
