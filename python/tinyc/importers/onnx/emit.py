"""A finished program as IR: the module with its `func.func @main` of Frontend ops."""

from dataclasses import replace

import numpy as np

from tinyc.diagnostics import Where, progress
from tinyc.dialects.frontend import ops as frontend
from tinyc.dialects.registry import context
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.emit_steps import StepEmitter
from tinyc.importers.emit import argument_location, boundary_name
from tinyc.importers.onnx.naming import op_names
from tinyc.importers.onnx.program import FrontendProgram, TypedConstant, TypedOp
from tinyc.mlir import func, ir
from tinyc.mlir.locations import location_of
from tinyc.vocabulary.attributes import scalar
from tinyc.vocabulary.elements import elements_attribute


def emit_program(program: FrontendProgram, where: Where) -> ir.Module:
    """The module of a program; `where` is its file."""
    with context(), location_of(where) or ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            _function(program)
    return module


def _function(program: FrontendProgram) -> None:
    emitter = StepEmitter({})
    results = [emitter.type(program.types[value]) for _, value in program.outputs]
    function = func.FuncOp("main", ([emitter.type(each.type) for each in program.inputs], results))
    function.arg_attrs = [boundary_name(each.name, each.is_weight) for each in program.inputs]
    function.attributes["res_attrs"] = ir.ArrayAttr.get([boundary_name(name) for name, _ in program.outputs])
    block = function.add_entry_block([argument_location(each) for each in program.inputs])
    emitter.values.update((each.value, block.arguments[at]) for at, each in enumerate(program.inputs))
    with ir.InsertionPoint(block):
        emitter.assume(program.assumptions)
        for number, (op, name) in enumerate(zip(program.ops, op_names(program), strict=True), 1):
            progress("import, op", number, len(program.ops))
            location = location_of(replace(op.where, node=name)) or ir.Location.unknown()
            made = _constant(op, emitter, location) if isinstance(op, TypedConstant) else _op(op, emitter, location)
            emitter.values.update(zip(op.values, made.results, strict=True))
        func.ReturnOp([emitter.values[value] for _, value in program.outputs])


def _constant(constant: TypedConstant, emitter: StepEmitter, location: ir.Location) -> ir.OpView:
    value = constant.value
    held = elements_attribute(value) if isinstance(value, np.ndarray) else scalar(value, constant.type.element)
    return tiny.create("const", (), {"value": held}, [emitter.type(constant.type)], location)


def _op(op: TypedOp, emitter: StepEmitter, location: ir.Location) -> ir.OpView:
    operands = {name: emitter.values[value] for name, value in op.operands.items()}
    return frontend.build_op(op.schema, operands, op.attributes, op.types, location)
