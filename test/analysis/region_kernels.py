"""Kernels for tests: a whole Tiny program as one, as fusion may make them, or those that tiny-to-region forms."""

from typing import Any

from tiny_programs import Program

from tinyc import pipeline
from tinyc.dialects.region.ops import memref_type
from tinyc.dialects.region.verify import kernels
from tinyc.dialects.tiny.attributes import tensor_type
from tinyc.mlir import context, end_body, ir


def one_kernel(program: Program, name: str = "k") -> Any:
    """Return the kernel that computes all of a program, which has its `result`; it lives as long as the program."""
    *ops, returned = (op.operation for op in program.block.operations)
    inputs, outputs = list(program.block.arguments), list(returned.operands)
    with context(), ir.Location.unknown():
        program.around_kernel = module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            symbol = {"sym_name": ir.StringAttr.get(name)}
            kernel = ir.Operation.create("region.kernel", attributes=symbol, regions=1)
        block = kernel.regions[0].blocks.append(*(memref_type(tensor_type(v.type)) for v in (*inputs, *outputs)))
        local = {}
        with ir.InsertionPoint(block):
            for value, buffer in zip(inputs, block.arguments, strict=False):
                local[value] = ir.Operation.create("region.read", results=[value.type], operands=[buffer]).results[0]
            for op in ops:
                copy = op.clone(ir.InsertionPoint.current)
                for position, operand in enumerate(op.operands):
                    copy.operands[position] = local[operand]
                local.update(zip(op.results, copy.results, strict=True))
            gmem = {"materialize": ir.StringAttr.get("gmem")}
            for value, buffer in zip(outputs, list(block.arguments)[len(inputs) :], strict=True):
                ir.Operation.create("region.yield", operands=[local[value], buffer], attributes=gmem)
            end_body()
        assert module.operation.verify()
    return kernel


def formed_kernels(program: Program) -> dict[str, Any]:
    """Return the kernels that tiny-to-region makes of a program, by name; the host function launches them."""
    with context():
        pipeline.parse("tiny-to-region").run(program.module)
        return kernels(program.module)


def matmul(p: Program, lhs: Any, rhs: Any, shape: str = "M N K", batch: bool = False, element: str = "f32") -> Any:
    """Append the sum, in `element`, of the products of `lhs` [m, k] and `rhs` [k, n]; a batch has an axis more."""
    left, right, axis = ((0, 1, 3), (0, 3, 2), 3) if batch else ((0, 2), (2, 1), 2)
    lhs = p.expand(lhs, shape=shape, broadcast_dimensions=left)
    rhs = p.expand(rhs, shape=shape, broadcast_dimensions=right)
    return p.sum(p.mul(lhs, rhs), axis, element=element)
