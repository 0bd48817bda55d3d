"""Steps to IR: the module with `func.func @main` that a finished `Steps` means.

Arguments and results carry their names as `tiny.name`; every op is located at its node (a name location, over its place
in the file where that is known); the assumptions stand first in the body.
"""

from tinyc.analysis.graphs import WEIGHT
from tinyc.diagnostics import Where, progress
from tinyc.dialects.registry import context
from tinyc.dialects.tiny.emit_steps import StepEmitter
from tinyc.formulas.steps import Steps, TypedInput
from tinyc.mlir import func, ir
from tinyc.mlir.locations import location_of, named


def emit(steps: Steps, where: Where) -> ir.Module:
    """The module of a program; `where` is its file."""
    with context(), _location(where):
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            _Emitter(steps).function()
    return module


def _location(where: Where) -> ir.Location:
    return location_of(where) or ir.Location.unknown()


def argument_location(argument: TypedInput) -> ir.Location:
    """The location of an argument: at its node; an input that no node declares is called as the tensor is."""
    location = _location(argument.where)
    return named(argument.name, location) if argument.where.node is None else location


class _Emitter:
    """One function."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.emitter = StepEmitter({})

    def function(self) -> None:
        inputs, emitter = self.steps.inputs, self.emitter
        results = [emitter.type(self.steps.types[value]) for _, value in self.steps.outputs]
        function = func.FuncOp("main", ([emitter.type(argument.type) for argument in inputs], results))
        function.arg_attrs = [boundary_name(argument.name, argument.is_weight) for argument in inputs]
        function.attributes["res_attrs"] = ir.ArrayAttr.get([boundary_name(name) for name, _ in self.steps.outputs])
        block = function.add_entry_block([argument_location(argument) for argument in inputs])
        emitter.values.update((argument.value, block.arguments[at]) for at, argument in enumerate(inputs))
        with ir.InsertionPoint(block):
            emitter.assume(self.steps.assumptions)
            for number, step in enumerate(self.steps.steps, 1):
                progress("import, op", number, len(self.steps.steps))
                emitter.emit(step, lambda step: _location(step.where))
            func.ReturnOp([emitter.values[value] for _, value in self.steps.outputs])


def boundary_name(name: str, is_weight: bool = False) -> ir.DictAttr:
    """The attributes of an argument or a result: what the user calls it, and whether it is a weight."""
    weight = {WEIGHT: ir.UnitAttr.get()} if is_weight else {}
    return ir.DictAttr.get({"tiny.name": ir.StringAttr.get(name), **weight})
