"""What the user calls the tensors that a kernel is launched with.

In: a module with host functions. Out: names for each buffer of each kernel, several where several launches share it.
"""

from collections.abc import Mapping
from typing import Any

from tinyc.analysis.graphs import input_names, output_names
from tinyc.analysis.tiny_ops import producer_of
from tinyc.dialects.tiny.verify import functions

#: For each kernel, by name: the names of what each of its buffers is, inputs first, in the order of the launches.
HostNames = Mapping[str, tuple[tuple[str, ...], ...]]


def host_names(module: Any) -> HostNames:
    """Return the names of the buffers of every kernel of `module` that its host functions launch.

    A tensor that is neither an input nor an output of the program has none.
    """
    found: dict[str, list[dict[str, None]]] = {}
    for function in functions(module):
        names = _names(function)
        for block in function.regions[0].blocks:
            for op in block.operations:
                if op.operation.name == "func.call_indirect":
                    _note(op.operation, names, found)
    return {kernel: tuple(tuple(each) for each in buffers) for kernel, buffers in found.items()}


def _note(call: Any, names: Mapping[Any, str], found: dict[str, list[dict[str, None]]]) -> None:
    callee, *operands = call.operands
    launch = producer_of(callee)
    if launch is None or launch.name != "region.launch":
        return
    values = [*operands, *call.results]
    buffers = found.setdefault(launch.attributes["kernel"].value, [{} for _ in values])
    for known, value in zip(buffers, values, strict=True):
        if value in names:
            known[names[value]] = None


def _names(function: Any) -> Mapping[Any, str]:
    """Return the names of the values of a function; a reshape of a buffer is called as the buffer."""
    blocks = list(function.regions[0].blocks)
    if len(blocks) != 1:
        return {}
    names: dict[Any, str] = dict(zip(blocks[0].arguments, input_names(function), strict=True))
    operations = [op.operation for op in blocks[0].operations]
    if operations and operations[-1].name == "func.return":
        for value, name in zip(operations[-1].operands, output_names(function), strict=True):
            names.setdefault(value, name)
    for op in operations:
        if op.name == "tiny.reshape" and op.operands[0] in names:
            names[op.results[0]] = names[op.operands[0]]
    for op in reversed(operations):
        if op.name == "tiny.reshape" and op.results[0] in names:
            names.setdefault(op.operands[0], names[op.results[0]])
    return names
