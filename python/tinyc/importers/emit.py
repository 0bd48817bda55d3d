"""Steps to IR: the module with `func.func @main` that a finished `Steps` means.

Arguments and results carry their names as `tiny.name`; every op is located at its node (a name location, over its place
in the file where that is known); the assumptions stand first in the body.
"""

from tinyc.analysis.graphs import WEIGHT
from tinyc.diagnostics import Where, progress
from tinyc.dialects.registry import context
from tinyc.dialects.tiny import ops as tiny
from tinyc.importers.steps import Steps, TypedInput, TypedStep
from tinyc.mlir import func, ir
from tinyc.mlir.locations import location_of, named
from tinyc.vocabulary.attributes import encode, to_type
from tinyc.vocabulary.types import TensorType


def emit(steps: Steps, where: Where) -> ir.Module:
    """The module of a program; `where` is its file."""
    with context(), _location(where):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            _Emitter(steps).function()
    return module


def _location(where: Where) -> ir.Location:
    return location_of(where) or ir.Location.unknown()


def _argument_location(argument: TypedInput) -> ir.Location:
    """At its node; an input that no node declares is called as the tensor is."""
    location = _location(argument.where)
    return named(argument.name, location) if argument.where.node is None else location


class _Emitter:
    """One function; `types` holds each MLIR type once, since making one costs as much as making an op."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.types: dict[TensorType, ir.Type] = {}
        self.values: dict[int, ir.Value] = {}

    def function(self) -> None:
        inputs = self.steps.inputs
        results = [self._type(self.steps.types[value]) for _, value in self.steps.outputs]
        function = func.FuncOp("main", ([self._type(argument.type) for argument in inputs], results))
        function.arg_attrs = [_named(argument.name, argument.is_weight) for argument in inputs]
        function.attributes["res_attrs"] = ir.ArrayAttr.get([_named(name) for name, _ in self.steps.outputs])
        block = function.add_entry_block([_argument_location(argument) for argument in inputs])
        self.values = {argument.value: block.arguments[at] for at, argument in enumerate(inputs)}
        with ir.InsertionPoint(block):
            self._assumptions()
            for number, step in enumerate(self.steps.steps, 1):
                progress("import, op", number, len(self.steps.steps))
                self._step(step)
            func.ReturnOp([self.values[value] for _, value in self.steps.outputs])

    def _type(self, tensor: TensorType) -> ir.Type:
        if tensor not in self.types:
            self.types[tensor] = to_type(tensor)
        return self.types[tensor]

    def _assumptions(self) -> None:
        for assumption in self.steps.assumptions:
            sides = (str(assumption.lhs), assumption.predicate, str(assumption.rhs))
            tiny.AssumeOp(*map(ir.StringAttr.get, sides), loc=_location(assumption.where))

    def _step(self, step: TypedStep) -> None:
        op = tiny.create(
            step.op,
            [self.values[operand] for operand in step.operands],
            encode(step.op, step.arguments, step.types[0].element, step.types[0].rank),
            [self._type(tensor) for tensor in step.types],
            _location(step.where),
        )
        for value, result in enumerate(op.results, step.first):
            self.values[value] = result


def _named(name: str, is_weight: bool = False) -> ir.DictAttr:
    weight = {WEIGHT: ir.UnitAttr.get()} if is_weight else {}
    return ir.DictAttr.get({"tiny.name": ir.StringAttr.get(name), **weight})
