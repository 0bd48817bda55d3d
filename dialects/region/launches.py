"""The launches of kernels by the host functions: found, written, replaced, and what they give in all runs."""

from collections.abc import Iterable, Mapping, Sequence

from tinyc.analysis.graphs import functions_of
from tinyc.dialects.launch import launchables_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.region.to_exec.const_pool import kept_between_runs
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


def kernel_of(call: func.CallIndirectOp) -> str:
    """The name of the kernel that one of the `kernel_calls` launches."""
    return launch_of(call).kernel.value


def kept_operands(module: ir.Module, kernels: Mapping[str, Kernel]) -> dict[str, frozenset[int]]:
    """The operands of each of the kernels of a module, by position, that are the same in all runs, in every launch.

    Of a kernel that has alternatives, or is one, there are none: these do not read the same.
    """
    launchables = launchables_of(module)
    kept = set[ir.Value]().union(*(kept_between_runs(each, launchables)[0] for each in functions_of(module)))
    found: dict[str, frozenset[int]] = {}
    for call in kernel_calls(module):
        name, kernel = kernel_of(call), kernels.get(kernel_of(call))
        is_alone = kernel is not None and not (kernel.sizes or kernel.guards or launch_of(call).alternatives)
        own = frozenset(at for at, each in enumerate(call.callee_operands) if is_alone and each in kept)
        found[name] = found.get(name, own) & own
    return found


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
