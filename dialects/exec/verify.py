"""What holds in the Exec layer: of each op, and of a host function with its buffers and launches.

Liveness is by generations: a buffer lives from the generation that writes it to the last one that reads it, and two
buffers that are alive together have no byte of the arena in common. Buffers in slots, as --region-to-exec makes them,
are proved to be apart; other static layouts are decided, and other symbolic ones are checked at those sample sizes that
the function's assumptions admit. A violation is reported with the sizes at which it happens.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tinyc.analysis import arena, extents
from tinyc.analysis.extents import Dim, ExtentError
from tinyc.diagnostics import TinycError
from tinyc.dialects.exec import read
from tinyc.dialects.exec.verify_launches import Located, Violation, kernels_of, launch_violations, order_violations
from tinyc.dialects.tiny.op_verifier import declared_fields_error
from tinyc.dialects.tiny.types import size_bytes
from tinyc.mlir import body_of
from tinyc.runtime.program import Buffer, Kernel, Pointer, Program

#: What may stand in the body of an `exec.function`.
BODY = ("exec.assume", "exec.buffer", "exec.kernel")
#: Sizes of the symbols at which symbolic offsets are checked: the first symbol has the first size of each row.
SAMPLES = ((1, 1, 1, 1), (2, 3, 5, 7), (150, 130, 70, 33), (64, 64, 64, 64), (257, 1, 129, 4))


def report_op(op: Any) -> bool:
    """Report what is wrong with one op, its attributes taken by themselves; return whether nothing is."""
    message = declared_fields_error(op) or _body_error(op)
    if message is None:
        try:
            _READERS[op.operation.name](op)
            return True
        except TinycError as error:
            message = f"'{op.operation.name}' {error.message} [{error.code} {error.name}]"
    op.location.emit_error(message)
    return False


def _function(op: Any) -> None:
    """Read the attributes of an `exec.function`; the ops of its body are verified by themselves."""
    attributes = op.operation.attributes
    read.text(attributes, "sym_name")
    for name in ("symbols", "inputs", "outputs"):
        read.texts(attributes, name)
    read.extent(attributes, "arena_bytes")


_READERS = {
    "exec.function": _function,
    "exec.assume": read.assumption_of,
    "exec.buffer": read.buffer_of,
    "exec.kernel": read.kernel_of,
}


def _body_error(op: Any) -> str | None:
    if op.operation.name != "exec.function":
        return None
    if len(op.operation.regions) != 1 or len(op.operation.regions[0].blocks) != 1:
        return "'exec.function' must have one region of one block"
    for inner in body_of(op):
        if inner.operation.name not in BODY:
            return f"'exec.function' may hold {', '.join(BODY)}, not '{inner.operation.name}'"
    return None


def verify(module: Any) -> bool:
    """Check every host function of the layer; report each violation at its op and return whether there was none."""
    found = list(violations(module))
    for location, message in found:
        location.emit_error(message)
    return not found


def violations(module: Any) -> Iterator[Violation]:
    """Yield (location, message) for each violation in `module`."""
    kernels = kernels_of(module)
    for op in read.exec_functions(module):
        program = read.function_of(op)
        located = Located(op)
        found = [
            *_names(program, located),
            *_parameters(program, located),
            *launch_violations(program, located, kernels),
        ]
        yield from found or [
            *_symbols(program, located),
            *order_violations(program, located),
            *_arena(program, located),
        ]


def _names(program: Program, located: Located) -> Iterator[Violation]:
    """Check that buffers have names of their own and their tensors' sizes, and that every input and output has one."""
    seen: set[str] = set()
    for buffer, location in zip(program.buffers, located.buffers, strict=True):
        if buffer.name in seen:
            yield location, f"two buffers are called '{buffer.name}'"
        seen.add(buffer.name)
        expected = extents.product((*buffer.shape, size_bytes(buffer.element)))
        if buffer.size != expected:
            yield location, f"buffer '{buffer.name}' has size {buffer.size}; its tensor takes {expected} bytes"
        if buffer.kind != "arena" and buffer.offset != 0:
            yield location, f"buffer '{buffer.name}' is an {buffer.kind}, no part of the arena; its offset must be 0"
    for kind, named in (("input", program.inputs), ("output", program.outputs)):
        found = [buffer.name for buffer in program.of_kind(kind)]
        if found != [f"{kind}_{position}" for position in range(len(named))]:
            yield (
                located.function,
                f"the {len(named)} {kind}s need buffers {kind}_0, {kind}_1, … in order; there are {found}",
            )


def _parameters(program: Program, located: Located) -> Iterator[Violation]:
    """Check that launches name buffers that exist, and say truly what they read and write."""
    buffers = {buffer.name: buffer for buffer in program.buffers}
    slots = [kernel.status.slot for kernel in program.kernels if kernel.status]
    for kernel, location in zip(program.kernels, located.kernels, strict=True):
        for pointer in kernel.pointers:
            message = _pointer_error(pointer, buffers)
            if message:
                yield location, message
        named = {pointer.buffer for pointer in kernel.pointers}
        if named != {*kernel.reads, *kernel.writes}:
            yield location, f"reads and writes must name the buffers of the parameters, {', '.join(sorted(named))}"
        for name in kernel.writes:
            if name in buffers and buffers[name].kind == "input":
                yield location, f"@{kernel.symbol} writes the input '{name}'"
        if kernel.status and slots.count(kernel.status.slot) > 1:
            yield location, f"status slot {kernel.status.slot} belongs to two kernels"


def _pointer_error(pointer: Pointer, buffers: Mapping[str, Buffer]) -> str | None:
    if pointer.buffer not in buffers:
        return f"parameter: there is no buffer '{pointer.buffer}'; there are {', '.join(buffers) or 'none'}"
    buffer = buffers[pointer.buffer]
    if pointer.element != buffer.element:
        return f"parameter: buffer '{buffer.name}' holds {buffer.element}, not {pointer.element}"
    seen, held = extents.product(pointer.shape), extents.product(buffer.shape)
    if isinstance(seen, int) and isinstance(held, int) and seen != held:
        return f"parameter: buffer '{buffer.name}' has {held} elements, not {seen}"
    return None


def _symbols(program: Program, located: Located) -> Iterator[Violation]:
    """Check that every symbol of an extent is listed."""
    for buffer, location in zip(program.buffers, located.buffers, strict=True):
        yield from _unlisted(program, location, (buffer.offset, buffer.size, *buffer.shape))
    for kernel, location in zip(program.kernels, located.kernels, strict=True):
        shapes = [extent for pointer in kernel.pointers for extent in pointer.shape]
        sizes = (*kernel.grid, *kernel.block, *kernel.cluster, kernel.dynamic_shared_bytes)
        yield from _unlisted(program, location, (*sizes, *kernel.extents, *shapes))
    sides = [side for assumption in program.assumptions for side in (assumption.lhs, assumption.rhs)]
    yield from _unlisted(program, located.function, (program.arena_bytes, *sides))


def _unlisted(program: Program, location: Any, dims: tuple[Dim, ...]) -> Iterator[Violation]:
    missing = {name: None for dim in dims for name in extents.symbols(dim) if name not in program.symbols}
    if missing:
        yield location, f"the symbols {', '.join(missing)} are not among the function's, {list(program.symbols)}"


def _arena(program: Program, located: Located) -> Iterator[Violation]:
    """Check that arena buffers are aligned, inside the arena, and apart from all that live at the same time."""
    alive = lifetimes(program.kernels)
    if _is_proved(program, alive):
        return
    rows = SAMPLES if program.symbols else SAMPLES[:1]
    for row in rows:
        values = {name: row[position % len(row)] for position, name in enumerate(program.symbols)}
        found = list(_arena_at(program, located, alive, values)) if _admits(program, values) else []
        if found:
            yield from found
            return


def _is_proved(program: Program, alive: Mapping[str, tuple[int, int]]) -> bool:
    """Say whether the arena is right for all sizes; False: not known."""
    buffers = program.of_kind("arena")
    requests = [arena.Request(buffer.size, *alive[buffer.name]) for buffer in buffers]
    try:
        return arena.in_slots([buffer.offset for buffer in buffers], requests, program.arena_bytes)
    except ExtentError:  # the sum of the sizes is too long a formula
        return False


def _admits(program: Program, values: Mapping[str, int]) -> bool:
    """Say whether the program may run at these sizes: its assumptions hold, and no extent is negative."""
    try:
        return all(
            each.relates(extents.evaluate(each.lhs, values), extents.evaluate(each.rhs, values))
            for each in program.assumptions
        ) and all(extents.evaluate(dim, values) >= 0 for buffer in program.buffers for dim in buffer.shape)
    except ExtentError:  # a division by zero
        return False


def lifetimes(kernels: tuple[Kernel, ...]) -> dict[str, tuple[int, int]]:
    """Return for each buffer the first and the last generation that names it."""
    alive: dict[str, tuple[int, int]] = {}
    for kernel in kernels:
        for name in (*kernel.reads, *kernel.writes):
            first, last = alive.get(name, (kernel.generation, kernel.generation))
            alive[name] = min(first, kernel.generation), max(last, kernel.generation)
    return alive


def _arena_at(
    program: Program, located: Located, alive: Mapping[str, tuple[int, int]], values: Mapping[str, int]
) -> Iterator[Violation]:
    at = f" at {', '.join(f'{name} = {value}' for name, value in values.items())}" if values else ""
    placed = []
    try:
        total = extents.evaluate(program.arena_bytes, values)
        for buffer, location in zip(program.buffers, located.buffers, strict=True):
            if buffer.kind == "arena":
                start, size = (extents.evaluate(dim, values) for dim in (buffer.offset, buffer.size))
                placed.append(arena.Placed(buffer.name, start, size, *alive[buffer.name]))
                if start % arena.ALIGNMENT_BYTES:
                    yield location, f"buffer '{buffer.name}' is at {start}, no multiple of {arena.ALIGNMENT_BYTES}{at}"
                if start < 0 or start + size > total:
                    yield (
                        location,
                        f"buffer '{buffer.name}' ends at byte {start + size}, the arena at {total}{at}",
                    )
    except ExtentError:
        return  # an offset divides by zero at these sizes
    places = {buffer.name: location for buffer, location in zip(program.buffers, located.buffers, strict=True)}
    for left, right in arena.overlaps(placed):
        yield (
            places[right.name],
            f"buffers '{left.name}' and '{right.name}' overlap in the arena, and both are alive in generation "
            f"{max(left.first, right.first)}{at}",
        )
