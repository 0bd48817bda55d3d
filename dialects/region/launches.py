"""The launches of kernels by the host functions: found, written, and replaced."""

from collections.abc import Iterable, Sequence

from tinyc.analysis.graphs import functions_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.mlir import func, ir


def kernel_calls(module: ir.Module) -> list[func.CallIndirectOp]:
    """The calls of what a `region.launch` gives, in the order of the host functions."""
    ops = (op for each in functions_of(module) for block in each.regions[0].blocks for op in block.operations)
    return [op for op in ops if isinstance(op, func.CallIndirectOp) and isinstance(op.callee.owner, region.LaunchOp)]


def launch_of(call: func.CallIndirectOp) -> region.LaunchOp:
    """The launch of one of the `kernel_calls`."""
    launch = call.callee.owner
    assert isinstance(launch, region.LaunchOp)  # else it is none of them
    return launch


def call_kernel(kernel: Kernel, operands: Sequence[ir.Value]) -> func.CallIndirectOp:
    """Emit a launch of a kernel, and its call."""
    launch = region.LaunchOp(ir.FlatSymbolRefAttr.get(kernel.name), kernel.function_type)
    return func.CallIndirectOp(list(kernel.function_type.results), launch.function, operands)


def replace_call(call: func.CallIndirectOp, results: Iterable[ir.Value]) -> None:
    """Put other values in the place of a call's results, and erase it, with its launch if nothing else needs that."""
    for old, new in zip(call.results, results, strict=True):
        old.replace_all_uses_with(new)
    launch = launch_of(call)
    call.erase()
    if not list(launch.function.uses):
        launch.erase()
