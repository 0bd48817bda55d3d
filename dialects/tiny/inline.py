"""Calls between Tiny functions, replaced by the bodies of what they call: a program is one graph.

In: functions of Tiny ops with `func.call`s. Out: the program's own function, without calls, alone. MLIR's `inline` does
not do it: a dialect that is defined in Python cannot tell it that its ops may be moved.
"""

import graphlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tinyc.analysis.graphs import body_block, functions_of, main_of
from tinyc.diagnostics import TinycError, Where, remark
from tinyc.mlir import func, ir
from tinyc.mlir.locations import where
from tinyc.passes import Pass

#: How many ops a program may have once its calls are inlined: functions that call each other twice double with each.
_MAX_OPS = 1_000_000


@dataclass(frozen=True)
class TinyInline(Pass):
    """Replace calls between functions by the bodies of what they call, and keep the program's function alone.

    Requires:
        1. Functions of Tiny ops and `func.call`s. None calls itself, directly or not.
        2. One is called `@main`, or only one is called by no other: it is the program.
    Ensures:
        1. The program's function has no calls, and is the only one; that another one was never called is a remark.
        2. An op from a called function keeps its location, and so its name. Symbols mean the same in all functions.
    Before:
        func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = "tiny.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    After:
        func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = "tiny.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    Source: MLIR's inline pass.
    """

    name: ClassVar[str] = "tiny-inline"
    consumes: ClassVar[tuple[str, ...]] = ("func",)
    produces: ClassVar[tuple[str, ...]] = ("tiny",)

    def run(self, module: ir.Module) -> None:
        """Edit `module` in place."""
        functions = {function.sym_name.value: function for function in functions_of(module)}
        calls = {name: _calls_in(function) for name, function in functions.items()}
        called = {call.callee.value for each in calls.values() for call in each}
        order = _callees_first(calls)
        roots = [function for name, function in functions.items() if name == "main" or name not in called]
        program = main_of(roots or list(functions.values()))
        _check_size(functions, calls, order)
        for name in order:
            for call in calls[name]:
                _inline(call, functions[call.callee.value])
        for function in functions.values():
            if function != program:
                _drop(function, called)


def is_of_several(module: ir.Module) -> bool:
    """Whether a module has more than the one function of a program, or calls."""
    functions = functions_of(module)
    return len(functions) > 1 or any(map(_calls_in, functions))


def _calls_in(function: func.FuncOp) -> list[func.CallOp]:
    """The calls in the first block of a function, in order."""
    return [op for op in body_block(function).operations if isinstance(op, func.CallOp)]


def _callees_first(calls: Mapping[str, list[func.CallOp]]) -> list[str]:
    """The functions in an order in which each comes after those that it calls.

    Raises:
        TinycError: `CyclicGraph`: some call each other; `InvalidIr`: what is called has no body.
    """
    for call in (call for each in calls.values() for call in each):
        if call.callee.value not in calls:
            message = f"@{call.callee.value} is called and has no body; write it in this module"
            raise TinycError("InvalidIr", message, where(call.location))
    try:
        graph = {name: {call.callee.value for call in each} for name, each in calls.items()}
        return list(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        cycle: list[str] = error.args[1][::-1]  # callee first, as the sorter has it
        at = next(call for call in calls[cycle[0]] if call.callee.value == cycle[1])
        message = f"{' calls '.join(f'@{name}' for name in cycle)}; a program is a graph without recursion"
        raise TinycError("CyclicGraph", message, where(at.location)) from None


def _check_size(functions: Mapping[str, func.FuncOp], calls: Mapping[str, list[func.CallOp]], order: list[str]) -> None:
    """Check that no function becomes too large to be compiled.

    Raises:
        TinycError: `InvalidIr`.
    """
    sizes: dict[str, int] = {}
    for name in order:
        own = len(body_block(functions[name]).operations)
        sizes[name] = own + sum(sizes[call.callee.value] for call in calls[name])
        if sizes[name] > _MAX_OPS:
            message = f"@{name} has {sizes[name]} ops once its calls are inlined, and {_MAX_OPS} is the limit"
            raise TinycError("InvalidIr", f"{message}; call less", where(functions[name].location))


def _inline(call: func.CallOp, function: func.FuncOp) -> None:
    """Put a copy of the function's body, which has no calls, in place of a call."""
    block = body_block(function)
    local: dict[ir.Value, ir.Value] = dict(zip(block.arguments, call.operands, strict=True))
    for op in block.operations:
        if isinstance(op, func.ReturnOp):
            for result, returned in zip(call.results, op.operands, strict=True):
                result.replace_all_uses_with(local[returned])
            break
        copy = op.clone(ir.InsertionPoint(call))
        for position, operand in enumerate(op.operands):
            copy.operands[position] = local[operand]
        local.update(zip(op.results, copy.results, strict=True))
    call.erase()


def _drop(function: func.FuncOp, called: set[str]) -> None:
    """Erase a function that is not the program's."""
    name = function.sym_name.value
    if name not in called:
        remark("unused-function", Where(node=name), f"@{name} is called by no other function and is left out")
    function.erase()
