"""What holds of a host function as a whole: its buffers, its launches, their order, and the places in the arena.

`verify_launches` has what holds of each launch and of their order, `verify_in_place` what holds of one that overwrites
what it reads, `verify_arena` what holds of the arena, `verify_pool` of the ConstPool; what an op has to be by itself
stands with the op. A violation is reported at its op.
"""

from collections.abc import Iterator, Mapping

from tinyc.dialects.exec.ops import FunctionOp, KernelOp, exec_functions
from tinyc.dialects.exec.verify_arena import arena_violations
from tinyc.dialects.exec.verify_in_place import in_place_violations
from tinyc.dialects.exec.verify_launches import launch_violations, order_violations, trip_count_violations
from tinyc.dialects.exec.verify_pool import pool_violations
from tinyc.dialects.launch import launchables_of
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.expr.maximum import maximum_dims
from tinyc.mlir import func, ir
from tinyc.mlir.verifying import Violation, report_violations
from tinyc.runtime.program import Buffer, KernelLaunch, Pointer, Program, TensorMapParameter


def verify(module: ir.Module) -> bool:
    """Check every host function of the layer; report each violation at its op and return whether there was none."""
    return report_violations(_violations(module))


def _violations(module: ir.Module) -> Iterator[Violation]:
    launchables = launchables_of(module)
    # A kernel that is loops is a function of the module.
    memory_spaces = {
        **{symbol: kernel.memory_space for symbol, kernel in launchables.items()},
        **{op.sym_name.value: "host" for op in module.body.operations if isinstance(op, func.FuncOp)},
    }
    for op in exec_functions(module):
        program = op.meaning()
        found = [
            *_name_violations(program, op),
            *_parameter_violations(program, op),
            *launch_violations(program, op, memory_spaces),
            *trip_count_violations(program, op, launchables),
            *in_place_violations(program, op, launchables),
        ]
        yield from found or [
            *_symbol_violations(program, op),
            *order_violations(program, op),
            *arena_violations(program, op),
            *pool_violations(program, op),
        ]


def _name_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that buffers have names of their own and their tensors' sizes, and that every input and output has one."""
    seen: set[str] = set()
    for buffer, at in zip(program.buffers, op.buffers, strict=True):
        if buffer.name in seen:
            yield at.location, f"two buffers are called '{buffer.name}'; give each its own name"
        seen.add(buffer.name)
        expected = extents.product((*buffer.shape, buffer.element.size_bytes))
        if buffer.size != expected:
            held = f"buffer '{buffer.name}' has size {buffer.size}, and its tensor takes {expected} bytes"
            yield at.location, f"{held}; write size {expected}"
        if buffer.kind in ("input", "output") and buffer.offset != 0:
            yield (
                at.location,
                f"buffer '{buffer.name}' is an {buffer.kind}, not part of the arena; its offset must be 0",
            )
    for kind, named in (("input", program.inputs), ("output", program.outputs), ("weight", program.weights)):
        found = [buffer.name for buffer in program.of_kind(kind)]
        if found != [f"{kind}_{position}" for position in range(len(named))]:
            yield (
                op.location,
                f"the {len(named)} {kind}s need buffers {kind}_0, {kind}_1, … in order; there are {found}",
            )


def _parameter_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that launches name buffers that exist, and say truly what they read and write."""
    buffers = {buffer.name: buffer for buffer in program.buffers}
    slots = [kernel.status.slot for kernel in program.kernels if kernel.status]
    for kernel, at in zip(program.kernels, op.kernels, strict=True):
        for each in kernel.launches:
            errors = [_pointer_error(pointer, buffers) for pointer in each.pointers]
            errors += [_tensor_map_error(tensor_map, each) for tensor_map in each.tensor_maps]
            for message in filter(None, errors):
                yield at.location, message
        yield from _alternative_violations(program, kernel, at)
        named = {pointer.buffer for each in kernel.launches for pointer in each.pointers}
        if named != {*kernel.reads, *kernel.writes}:
            yield at.location, f"reads and writes must name the buffers of the parameters, {', '.join(sorted(named))}"
        for name in kernel.writes:
            if name in buffers and (kind := buffers[name].kind) in ("input", "weight", "constant"):
                yield at.location, f"@{kernel.symbol} writes the {kind} '{name}'; write an output or the arena"
        if kernel.status and slots.count(kernel.status.slot) > 1:
            yield at.location, f"status slot {kernel.status.slot} belongs to two kernels; give each its own slot"


def _alternative_violations(program: Program, kernel: KernelLaunch, at: KernelOp) -> Iterator[Violation]:
    """Check that the alternatives of a launch work on its buffers and its status slot, each with its own workspaces."""
    workspaces = program.workspaces_of(kernel)
    own, *others = (
        ([pointer.buffer for pointer in each.pointers if pointer.buffer not in workspaces], each.status)
        for each in kernel.launches
    )
    for each, theirs in zip(kernel.alternatives, others, strict=True):
        if theirs != own:
            message = f"alternative @{each.symbol} has other buffers or another status slot than @{kernel.symbol}"
            yield at.location, f"{message}; pass it the same, in the same order"


def _pointer_error(pointer: Pointer, buffers: Mapping[str, Buffer]) -> str | None:
    if pointer.buffer not in buffers:
        return f"parameter: there is no buffer '{pointer.buffer}'; there are {', '.join(buffers) or 'none'}"
    buffer = buffers[pointer.buffer]
    name, element = buffer.name, buffer.element
    if pointer.element != element:
        return f"parameter: buffer '{name}' holds {element}, not {pointer.element}; pass it as {element}"
    seen, held = extents.product(pointer.shape), extents.product(buffer.shape)
    if isinstance(seen, int) and isinstance(held, int) and seen != held:
        return f"parameter: buffer '{name}' has {held} elements, not {seen}; pass it with as many"
    return None


def _tensor_map_error(tensor_map: TensorMapParameter, kernel: KernelLaunch) -> str | None:
    elements = {pointer.buffer: pointer.element for pointer in kernel.pointers}
    name = tensor_map.buffer
    if name not in elements:
        return f"parameter: @{kernel.symbol} has a tensor map of '{name}', and no pointer to it; pass one, too"
    if tensor_map.element != elements[name]:
        held = f"a tensor map of '{name}' is of {tensor_map.element}, and the buffer holds {elements[name]}"
        return f"parameter: {held}; write {elements[name]}"
    return None


def _symbol_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that every symbol of an extent is listed."""
    for buffer, at in zip(program.buffers, op.buffers, strict=True):
        yield from _unlisted(program, at.location, (buffer.offset, buffer.size, *buffer.shape, *buffer.indexes))
    for kernel, at in zip(program.kernels, op.kernels, strict=True):
        for each in kernel.launches:
            shapes = [extent for pointer in each.pointers for extent in pointer.shape]
            shapes += [extent for tensor_map in each.tensor_maps for extent in tensor_map.tiling.extents]
            sizes = (*each.grid, *each.block, *each.cluster, each.dynamic_shared_bytes)
            yield from _unlisted(program, at.location, (*sizes, *each.extents, *shapes))
        guards = [side for each in kernel.alternatives for guard in each.guards for side in (guard.lhs, guard.rhs)]
        yield from _unlisted(program, at.location, tuple(guards))
    sides = [side for assumption in program.assumptions for side in (assumption.lhs, assumption.rhs)]
    yield from _unlisted(program, op.location, (*maximum_dims(program.arena_bytes), *sides))


def _unlisted(program: Program, location: ir.Location, dims: tuple[Dim, ...]) -> Iterator[Violation]:
    missing = {name: None for dim in dims for name in extents.symbols(dim) if name not in program.symbols}
    if missing:
        listed = f"are not among the function's, {list(program.symbols)}; add them to 'symbols'"
        yield location, f"the symbols {', '.join(missing)} {listed}"
