"""A whole Tiny program as one `region.kernel` with its host, whatever region formation would make of it."""

from tinyc.dialects.region import ops as region
from tinyc.mlir import func, ir
from tinyc.mlir.bodies import end_body
from tinyc.vocabulary.attributes import tensor_type


def one_kernel(program):
    """Make the function of a `tiny_programs.Program` a kernel that computes all of it, and a host; return the module.

    The program is left as it is, for the reference.
    """
    function = program.function.opview
    with function.context, ir.Location.unknown():
        module = ir.Module.create()
        block = function.regions[0].blocks[0]
        returned = list(list(block.operations)[-1].operands)
        with ir.InsertionPoint(module.body):
            kernel = region.KernelOp(ir.StringAttr.get("whole"))
            _fill(kernel, block, returned)
            host = func.FuncOp("main", function.type)
            host.attributes["arg_attrs"] = function.attributes["arg_attrs"]
            names = [{"tiny.name": ir.StringAttr.get(f"y{number}")} for number in range(len(returned))]
            host.attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in names])
            entry = host.add_entry_block()
            with ir.InsertionPoint(entry):
                launch = region.LaunchOp(ir.FlatSymbolRefAttr.get("whole"), function.type)
                call = func.CallIndirectOp([each.type for each in returned], launch.function, list(entry.arguments))
                func.ReturnOp(list(call.results))
    return module


def _fill(kernel, block, returned):
    memrefs = [region.memref_type(tensor_type(value.type)) for value in (*block.arguments, *returned)]
    body = kernel.body.blocks.append(*memrefs)
    local = {}
    with ir.InsertionPoint(body):
        for value, argument in zip(block.arguments, body.arguments, strict=False):
            local[value] = region.ReadOp(argument, value.type).output
        for op in list(block.operations)[:-1]:
            copy = op.operation.clone()
            for position, operand in enumerate(op.operands):
                copy.operands[position] = local[operand]
            local.update(zip(op.results, copy.results, strict=True))
        for value, argument in zip(returned, list(body.arguments)[len(block.arguments) :], strict=True):
            region.YieldOp(local[value], argument, ir.StringAttr.get("gmem"))
        end_body()
