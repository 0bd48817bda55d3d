"""What holds in the Region layer as a whole: the host function launches kernels that there are, as what they are.

A launch has the type of its kernel as a function of tensors, an alternative the same at its sizes, and the host states
each relation between extents that the kernel relies on. Kernels that have left the layer offer what is asked of them
here (`Launchable`).
"""

from collections.abc import Collection, Iterator, Mapping

from tinyc.analysis.graphs import assumptions_of
from tinyc.diagnostics import TinycError
from tinyc.dialects.launch import Launchable, launchables_of
from tinyc.dialects.region import ops as region
from tinyc.dialects.region.bind import SymbolBinder, shown_sizes
from tinyc.dialects.region.kernel import Kernel
from tinyc.dialects.tiny import ops as tiny
from tinyc.dialects.tiny.op_verifier import infer_op
from tinyc.dialects.tiny.verify import unstated
from tinyc.expr import extents
from tinyc.mlir import func, ir
from tinyc.mlir.locations import where
from tinyc.mlir.names import declared_symbols
from tinyc.mlir.verifying import Violation, report_violations
from tinyc.vocabulary.attributes import to_type
from tinyc.vocabulary.infer import Assumption

#: Ops whose typing may rest on a relation between extents.
_Assuming = tiny.ReshapeOp | tiny.ShrinkOp | tiny.ViewOp | tiny.PoolOp | tiny.TopkOp

#: For each kernel, the relations that it relies on, each with the name of the op that does.
_Relations = Mapping[str, list[tuple[str, Assumption]]]


def require_materialized(kernel: Kernel) -> None:
    """Check that all outputs of a kernel have memory: what every lowering of it needs.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    for yielding in kernel.yields:
        if yielding.materialize.value != "gmem":
            raise TinycError(
                "InvalidAttribute",
                "a deferred output is left over: only fusion may elide it; materialize it in gmem",
                where(yielding.location),
            )


def verify(module: ir.Module) -> bool:
    """Check the launches of the kernels across the module; report each violation and return whether there was none."""
    return report_violations(_violations(module))


def _violations(module: ir.Module) -> Iterator[Violation]:
    launchables = launchables_of(module)
    symbols = declared_symbols(module.body) | set(launchables)
    relations = {symbol: _relations(launchable) for symbol, launchable in launchables.items()}
    for function in module.body.operations:
        if not isinstance(function, func.FuncOp):
            continue
        for block in function.body.blocks:
            stated = set(assumptions_of(block))
            for op in block.operations:
                if isinstance(op, region.LaunchOp):
                    yield from _launch(op, launchables, symbols)
                    yield from _alternatives(op, launchables)
                    yield from _unstated(op, relations, stated)
            yield from _panels(block, launchables)


def _panels(block: ir.Block, launchables: Mapping[str, Launchable]) -> Iterator[Violation]:
    """Check that what one kernel writes in panels others read in panels, and nothing else."""
    panels: dict[ir.Value, int | None] = {}
    for op in block.operations:
        launch = op.callee.owner if isinstance(op, func.CallIndirectOp) else None
        symbol = launch.attributes["kernel"] if isinstance(launch, region.LaunchOp) else None
        kernel = launchables.get(symbol.value) if isinstance(symbol, ir.FlatSymbolRefAttr) else None
        values = list(op.operands if launch is None else op.operands[1:])
        if isinstance(kernel, Kernel) and len(kernel.inputs) == len(values):
            expected = [region.panel_group(each) for each in kernel.inputs]
            written = zip(op.results, kernel.outputs, strict=False)
            panels.update((result, region.panel_group(buffer)) for result, buffer in written)
        else:
            expected = [None] * len(values)
        for position, (value, group) in enumerate(zip(values, expected, strict=True)):
            if panels.get(value) != group:
                taken, given = _order(group), _order(panels.get(value))
                yield op.location, f"'{op.operation.name}' takes operand {position} {taken}, and it is {given}"


def _order(group: int | None) -> str:
    if group is None:
        return "row by row"
    return "in panels" if group == 1 else f"in panels of words of {group}"


def _launch(
    op: region.LaunchOp, launchables: Mapping[str, Launchable], symbols: Collection[str]
) -> Iterator[Violation]:
    symbol, launched = op.attributes["kernel"], op.results[0].type
    if not isinstance(symbol, ir.FlatSymbolRefAttr) or symbol.value not in symbols:
        yield op.location, f"'region.launch' of {symbol}: there is no such kernel in the module"
        return
    kernel = launchables.get(symbol.value)
    if kernel is None or not isinstance(launched, ir.FunctionType):
        return
    if isinstance(kernel, Kernel):
        if kernel.sizes or kernel.guards:
            message = f"'region.launch' of @{symbol.value}, which is for some sizes only; name it in 'alternatives'"
            yield op.location, message
        elif launched != kernel.function_type:
            message = f"'region.launch' gives {launched}, and @{symbol.value} is a function {kernel.function_type}"
            yield op.location, message
        return
    # Its inputs and then its outputs are the buffers that another layer's function starts with.
    held = [to_type(tensor) for tensor in kernel.tensors or ()]
    if held and held != [*launched.inputs, *launched.results]:
        yield op.location, f"'region.launch' gives {launched}, and @{symbol.value} takes {', '.join(map(str, held))}"


def _alternatives(op: region.LaunchOp, launchables: Mapping[str, Launchable]) -> Iterator[Violation]:
    """Check that the alternatives of a launch's kernel are it at sizes of theirs."""
    symbol = op.attributes["kernel"]
    kernel = launchables.get(symbol.value) if isinstance(symbol, ir.FlatSymbolRefAttr) else None
    for name in op.alternatives:
        alternative = launchables.get(name)
        if alternative is None:
            yield op.location, f"'region.launch' has the alternative @{name}: there is no such kernel in the module"
            continue
        if not isinstance(alternative, Kernel):
            continue  # its layer has built it from one that was checked
        expected = SymbolBinder(alternative.sizes).type(op.results[0].type)
        unknown = [each for each in _guarded_symbols(alternative) if each not in alternative.symbols]
        if not alternative.sizes and not alternative.guards:
            message = (
                f"'region.launch' has the alternative @{name}, which says no 'sizes' or 'guards'; write them on it"
            )
            yield op.location, message
        elif unknown:
            message = f"'region.launch' has the alternative @{name}, whose guards ask for '{unknown[0]}'"
            yield op.location, f"{message}, no symbol of its extents; leave that out"
        elif isinstance(kernel, Kernel) and _orders(alternative) != _orders(kernel):
            message = f"whose buffers are in another order than those of @{kernel.name}; give both the same 'panels'"
            yield op.location, f"'region.launch' has the alternative @{name}, {message}"
        elif alternative.function_type != expected:
            at = shown_sizes(alternative.sizes)
            message = f"at {at} it has to be {expected}, and is a function {alternative.function_type}"
            yield op.location, f"'region.launch' has the alternative @{name}: {message}"


def _orders(kernel: Kernel) -> list[int | None]:
    return [region.panel_group(each) for each in kernel.buffers]


def _guarded_symbols(kernel: Kernel) -> list[str]:
    """The symbols that the guards of a kernel are about."""
    return [name for guard in kernel.guards for side in (guard.lhs, guard.rhs) for name in extents.symbols(side)]


def _unstated(op: region.LaunchOp, relations: _Relations, stated: set[Assumption]) -> Iterator[Violation]:
    """Yield the relations that the launched kernel relies on and the host does not state."""
    symbol = op.attributes["kernel"]
    found = relations.get(symbol.value, ()) if isinstance(symbol, ir.FlatSymbolRefAttr) else ()
    for name, needed in found:
        if needed not in stated:
            yield op.location, f"'region.launch': '{name}' in the kernel {unstated(needed)}"


def _relations(kernel: Launchable) -> list[tuple[str, Assumption]]:
    """The relations between extents that a kernel relies on, each with the name of the op that does."""
    assuming = (op for body in kernel.bodies for op in body.operations if isinstance(op, _Assuming))
    return [(op.operation.name, needed) for op in assuming for needed in infer_op(op).assumptions]
