"""Kernels for tests: a whole Tiny program as one, as fusion may make them, or those that tiny-to-region forms."""

from typing import Any

from analysis_programs.tiny_programs import Program
from tinyc import pipeline
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel, kernels_of
from tinyc.dialects.registry import context
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import end_body
from tinyc.vocabulary.attributes import tensor_type


def one_kernel(program: Program, name: str = "k") -> Kernel:
    """Return the kernel that computes all of a program, which has its `result`; it lives as long as the program."""
    *ops, returned = program.block.operations
    inputs, outputs = list(program.block.arguments), list(returned.operands)
    with context(), ir.Location.unknown():
        program.around_kernel = module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            kernel = region.KernelOp(sym_name=ir.StringAttr.get(name))
        block = kernel.body.blocks.append(*(region.memref_type(tensor_type(v.type)) for v in (*inputs, *outputs)))
        local = {}
        with ir.InsertionPoint(block):
            for value, buffer in zip(inputs, block.arguments, strict=False):
                local[value] = region.ReadOp(buffer=buffer, output=value.type).output
            for op in ops:
                copy = op.clone(ir.InsertionPoint.current)
                for position, operand in enumerate(op.operands):
                    copy.operands[position] = local[operand]
                local.update(zip(op.results, copy.results, strict=True))
            for value, buffer in zip(outputs, list(block.arguments)[len(inputs) :], strict=True):
                region.YieldOp(value=local[value], buffer=buffer, materialize=ir.StringAttr.get("gmem"))
            end_body()
        assert module.operation.verify()
    return Kernel(kernel)


def one_kernel_program(program: Program) -> ir.Module:
    """Return a program that launches the kernel that computes all of another one, which has its `result`."""
    kernel = one_kernel(program)
    module, old = program.around_kernel, program.function
    with context(), ir.Location.unknown():
        function_type = kernel.function_type
        with ir.InsertionPoint(module.body):
            host = func.FuncOp("main", function_type)
        host.attributes["arg_attrs"] = old.attributes["arg_attrs"]
        with ir.InsertionPoint(host.add_entry_block()):
            launch = region.LaunchOp(ir.FlatSymbolRefAttr.get(kernel.name), function_type)
            call = func.CallIndirectOp(list(function_type.results), launch.function, list(host.arguments))
            func.ReturnOp(call.results)
        assert module.operation.verify()
    return module


def formed_kernels(program: Program, fusion: str = "") -> dict[str, Kernel]:
    """Return the kernels that tiny-to-region makes of a program, by name; the host function launches them.

    With `fusion` "none", each op is a kernel.
    """
    with context():
        pipeline.parse(f"tiny-to-region{{fusion={fusion}}}" if fusion else "tiny-to-region").run(program.module)
        return kernels_of(program.module)


def matmul(p: Program, lhs: Any, rhs: Any, shape: str = "M N K", batch: bool = False, element: str = "f32") -> Any:
    """Append the sum, in `element`, of the products of `lhs` [m, k] and `rhs` [k, n]; a batch has an axis more."""
    left, right, axis = ((0, 1, 3), (0, 3, 2), 3) if batch else ((0, 2), (2, 1), 2)
    lhs = p.expand(lhs, shape=shape, broadcast_dimensions=left)
    rhs = p.expand(rhs, shape=shape, broadcast_dimensions=right)
    return p.sum(p.mul(lhs, rhs), axis, element=element)
