"""What the user calls the tensors that a kernel is launched with.

In: a module with host functions. Out: names for each buffer of each kernel, several where several launches share it.
"""

from collections.abc import Mapping

from tinyc.analysis.graphs import functions_of, input_names, output_names
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.region.ops import LaunchOp
from tinyc.dialects.tiny.ops import ReshapeOp
from tinyc.mlir import func, ir

#: For each kernel, by name: the names of what each of its buffers is, inputs first, in the order of the launches.
HostNames = Mapping[str, tuple[tuple[str, ...], ...]]


def host_names(module: ir.Module) -> HostNames:
    """The names of the buffers of every kernel of `module` that its host functions launch.

    A tensor that is neither an input nor an output of the program has none.
    """
    found: dict[str, list[dict[str, None]]] = {}
    for function in functions_of(module):
        names = _tensor_names(function)
        for block in function.regions[0].blocks:
            for op in block.operations:
                if isinstance(op, func.CallIndirectOp):
                    _note(op, names, found)
    return {kernel: tuple(tuple(each) for each in buffers) for kernel, buffers in found.items()}


def _note(call: func.CallIndirectOp, names: Mapping[ir.Value, str], found: dict[str, list[dict[str, None]]]) -> None:
    launch = producer_of(call.callee)
    if not isinstance(launch, LaunchOp):
        return
    values = [*call.callee_operands, *call.results]
    for kernel in (launch.kernel.value, *launch.alternatives):
        buffers = found.setdefault(kernel, [{} for _ in values])
        for known, value in zip(buffers, values, strict=True):
            if value in names:
                known[names[value]] = None


def _tensor_names(function: func.FuncOp) -> Mapping[ir.Value, str]:
    """The names of the values of a function; a reshape of a buffer is called as the buffer."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return {}
    names: dict[ir.Value, str] = dict(zip(blocks[0].arguments, input_names(function), strict=True))
    ops = list(blocks[0].operations)
    if ops and isinstance(ops[-1], func.ReturnOp):
        for value, name in zip(ops[-1].operands, output_names(function), strict=True):
            names.setdefault(value, name)
    reshapes = [op for op in ops if isinstance(op, ReshapeOp)]
    for op in reshapes:
        if op.operand in names:
            names[op.output] = names[op.operand]
    for op in reversed(reshapes):
        if op.output in names:
            names.setdefault(op.operand, names[op.output])
    return names
