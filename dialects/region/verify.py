"""What holds in the Region layer: of a kernel, and of the kernels with the host function that launches them."""

from collections.abc import Callable, Iterator
from typing import Any

from tinyc.analysis.gpu_symbols import gpu_symbols
from tinyc.diagnostics import TinycError
from tinyc.dialects.region.ops import MemRefType, held_tensor
from tinyc.dialects.tiny.attributes import tensor_type, to_type
from tinyc.dialects.tiny.infer import Assumption
from tinyc.dialects.tiny.op_verifier import infer_op
from tinyc.dialects.tiny.verify import assumptions, unstated
from tinyc.mlir import body_of, ir, nested, unreadable
from tinyc.plan.attribute import parse as parse_plan
from tinyc.text import where

#: Ops that walk an axis in order, writing their results as they go.
ORDERED = ("tiny.scatter", "tiny.topk")
#: Ops whose indices come from data, and may be out of range; their kernels get a status buffer.
CHECKED = ("tiny.gather", "tiny.scatter")

_MATERIALIZE = ("gmem", "deferred")
#: Ops whose typing may rest on a relation between extents.
_ASSUMING = ("tiny.reshape", "tiny.shrink", "tiny.view", "tiny.pool", "tiny.topk")


class Malformed(Exception):
    """A broken rule of the layer; its text says what is wrong."""


def block_of(kernel: Any) -> Any:
    """Return the one block of a kernel."""
    return kernel.operation.regions[0].blocks[0]


def yields_of(kernel: Any) -> list[Any]:
    """Return the yields of a kernel, one for each output, in the order of the outputs."""
    return [op for op in block_of(kernel).operations if op.operation.name == "region.yield"]


def inputs_of(kernel: Any) -> list[Any]:
    """Return the block arguments that are inputs: all but the last ones, which are the outputs."""
    arguments = list(block_of(kernel).arguments)
    return arguments[: len(arguments) - len(yields_of(kernel))]


def outputs_of(kernel: Any) -> list[Any]:
    """Return the block arguments that are outputs."""
    return list(block_of(kernel).arguments)[len(inputs_of(kernel)) :]


def kernels(module: Any) -> dict[str, Any]:
    """Return the kernels of a module by name."""
    found = (op for op in module.body.operations if op.operation.name == "region.kernel")
    return {kernel.operation.attributes["sym_name"].value: kernel for kernel in found}


def gpu_kernels(module: Any) -> dict[str, Any]:
    """Return the functions of GPU kernels, which regions become, by name."""
    modules = (op for op in module.body.operations if op.operation.name == "gpu.module")
    functions = (op for each in modules for op in each.operation.regions[0].blocks[0].operations)
    return {op.operation.attributes["sym_name"].value: op for op in functions if op.operation.name == "gpu.func"}


def report_kernel(op: Any) -> bool:
    """Report what is wrong with a `region.kernel` at its location; return whether nothing is."""
    return _report(op, _check_kernel)


def report_read(op: Any) -> bool:
    """Report what is wrong with a `region.read`."""
    return _report(op, _check_read)


def report_yield(op: Any) -> bool:
    """Report what is wrong with a `region.yield`."""
    return _report(op, _check_yield)


def _report(op: Any, check: Callable[[Any], None]) -> bool:
    _, message = unreadable(op) or (op, None)
    if message is None:
        message = broken_rule(check, op.operation)
        message = message and f"'{op.operation.name}' {message}"
    if message is None:
        return True
    op.location.emit_error(message)
    return False


def broken_rule(check: Callable[..., None], *checked: Any) -> str | None:
    """Return what `check` finds wrong, or None."""
    try:
        check(*checked)
    except TinycError as error:
        return f"{error.message} [{error.code} {error.name}]"
    except Malformed as error:
        return str(error)
    return None


def _check_kernel(op: Any) -> None:
    if not isinstance(op.attributes.get("sym_name"), ir.StringAttr):
        raise Malformed("needs a name in 'sym_name'")
    if len(op.regions) != 1 or len(op.regions[0].blocks) != 1:
        raise Malformed("must have one region of one block")
    names = [inner.operation.name for inner in body_of(op)]
    yields = names.count("region.yield")
    if not yields or names[-yields:] != ["region.yield"] * yields:
        raise Malformed("must end in a 'region.yield' for each output")
    for argument in block_of(op).arguments:
        held_tensor(argument.type)
    for name in names[:-yields]:
        if name != "region.read" and (not name.startswith("tiny.") or name == "tiny.assume"):
            raise Malformed(f"may hold 'region.read' and Tiny ops only, not '{name}'")
    _check_outputs(op)
    check_ordered(op)
    if "plan" in op.attributes:
        parse_plan(op.attributes["plan"])


def _check_outputs(op: Any) -> None:
    """Check that the yielded-to outputs are the last block arguments, in order, and touched by nothing else."""
    written = [yielding.operation.operands[1] for yielding in yields_of(op)]
    if written != outputs_of(op):
        raise Malformed("must yield to its last block arguments, each once and in their order")
    for output in written:
        if len(list(output.uses)) != 1:
            raise Malformed(f"reads or writes output {output.arg_number} elsewhere than in its 'region.yield'")
    firsts = {held_tensor(output.type).shape[:1] for output in written}
    if len(firsts) > 1:
        raise Malformed("has outputs with different first extents; one outer loop must serve them all")


def check_ordered(op: Any) -> None:
    """Check that an op which walks an axis in order stands alone: the body yields its results and nothing else."""
    ordered = [inner.operation for inner in body_of(op) if inner.operation.name in ORDERED]
    if not ordered:
        return
    yielded = [yielding.operation.operands[0] for yielding in yields_of(op)]
    uses = [use for result in ordered[0].results for use in result.uses]
    alone = len(ordered) == 1 and len(uses) == len(yielded) == len(set(yielded) & set(ordered[0].results))
    if not alone:
        raise Malformed(f"has '{ordered[0].name}' beside other results; it must be all that is yielded, once")


def _check_read(op: Any) -> None:
    if len(op.operands) != 1 or len(op.results) != 1:
        raise Malformed("takes one buffer and gives one value")
    held, value = held_tensor(op.operands[0].type), tensor_type(op.results[0].type)
    if held != value:
        raise Malformed(f"gives {op.results[0].type}, and the buffer holds {held}")


def _check_yield(op: Any) -> None:
    if len(op.operands) != 2:
        raise Malformed("takes a value and an output")
    materialize = op.attributes.get("materialize")
    if not isinstance(materialize, ir.StringAttr) or materialize.value not in _MATERIALIZE:
        raise Malformed(f'needs \'materialize\', "gmem" or "deferred", not {materialize}')
    if tensor_type(op.operands[0].type) != held_tensor(op.operands[1].type):
        raise Malformed(f"writes {op.operands[0].type}, and its output holds {held_tensor(op.operands[1].type)}")


def require_materialized(kernel: Any) -> None:
    """Check that all outputs of a kernel have memory: what every lowering of it needs.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    for yielding in yields_of(kernel):
        if yielding.operation.attributes["materialize"].value != "gmem":
            raise TinycError(
                "InvalidAttribute",
                "a deferred output is left over: only fusion may elide it; materialize it in gmem",
                where(yielding.location),
            )


def verify(module: Any) -> bool:
    """Check the launches of the kernels across the module; report each violation and return whether there was none."""
    found = list(violations(module))
    for location, message in found:
        location.emit_error(message)
    return not found


def violations(module: Any) -> Iterator[tuple[Any, str]]:
    """Yield (location, message) for each violation in `module`."""
    on_gpu = gpu_kernels(module)
    named = (op.operation.attributes.get("sym_name") for op in module.body.operations)
    symbols = {name.value for name in named if isinstance(name, ir.StringAttr)} | gpu_symbols(module)
    known = kernels(module)
    relations = {name: _relations(kernel) for name, kernel in {**on_gpu, **known}.items()}
    for function in module.body.operations:
        if function.operation.name != "func.func" or not len(function.regions[0].blocks):
            continue
        for block in function.regions[0].blocks:
            stated = set(assumptions(block))
            for op in block.operations:
                if op.operation.name == "region.launch":
                    yield from _launch(op, known, symbols)
                    yield from _launch_on_gpu(op, on_gpu)
                    yield from _unstated(op, relations, stated)


def _launch(op: Any, known: dict[str, Any], symbols: set[str]) -> Iterator[tuple[Any, str]]:
    symbol, function = op.operation.attributes["kernel"], op.operation.results[0].type
    if not isinstance(symbol, ir.FlatSymbolRefAttr) or symbol.value not in symbols:
        yield op.location, f"'region.launch' of {symbol}: there is no such kernel in the module"
        return
    if symbol.value not in known or not isinstance(function, ir.FunctionType):
        return
    expected = function_type(known[symbol.value])
    if function != expected:
        yield op.location, f"'region.launch' gives {function}, and @{symbol.value} is a function {expected}"


def _launch_on_gpu(op: Any, on_gpu: dict[str, Any]) -> Iterator[tuple[Any, str]]:
    """Check a launch of a GPU kernel: its inputs and then its outputs are the buffers that the function starts with."""
    symbol, launched = op.operation.attributes["kernel"], op.operation.results[0].type
    if not isinstance(symbol, ir.FlatSymbolRefAttr) or symbol.value not in on_gpu:
        return
    if not isinstance(launched, ir.FunctionType):
        return
    taken = on_gpu[symbol.value].operation.attributes["function_type"].value.inputs
    buffers = [to_type(held_tensor(each)) for each in taken if isinstance(each, MemRefType)]
    if buffers and buffers != [*launched.inputs, *launched.results]:  # lowered further, a buffer is any memref
        yield op.location, f"'region.launch' gives {launched}, and @{symbol.value} takes {', '.join(map(str, buffers))}"


def _unstated(
    op: Any, relations: dict[str, list[tuple[str, Assumption]]], stated: set[Assumption]
) -> Iterator[tuple[Any, str]]:
    """Yield the relations that the launched kernel relies on and the host does not state."""
    symbol = op.operation.attributes["kernel"]
    found = relations.get(symbol.value, ()) if isinstance(symbol, ir.FlatSymbolRefAttr) else ()
    for name, needed in found:
        if needed not in stated:
            yield op.location, f"'region.launch': '{name}' in the kernel {unstated(needed)}"


def _relations(kernel: Any) -> list[tuple[str, Assumption]]:
    """Return the relations between extents that a kernel relies on, each with the op that does."""
    assuming = (op for op in nested(kernel) if op.name in _ASSUMING)
    return [(op.name, needed) for op in assuming for needed in infer_op(op.opview).assumptions]


def function_type(kernel: Any) -> Any:
    """Return the kernel's type as a function of tensors: inputs to outputs."""
    tensors = [
        [to_type(held_tensor(argument.type)) for argument in arguments]
        for arguments in (inputs_of(kernel), outputs_of(kernel))
    ]
    return ir.FunctionType.get(*tensors)
