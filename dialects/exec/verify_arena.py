"""What holds of the arena: buffers are aligned, inside it, and apart from all that are alive at the same time.

Liveness is by generations: a buffer lives from the generation that writes it to the last one that reads it, and two
buffers that are alive together have no byte of the arena in common; of two that one launch has `in_place`, the second
lives from the next generation on. Where sizes are numbers that is decided. Symbolic
layouts are proved to be right for all sizes; what is not proved is checked at those sample sizes that the function's
assumptions admit. A violation is reported with the sizes at which it happens.
"""

from collections.abc import Iterator, Mapping

from tinyc.analysis import arena
from tinyc.dialects.exec.ops import FunctionOp
from tinyc.expr import extents
from tinyc.expr.extents import ExtentError
from tinyc.expr.maximum import maximum_at
from tinyc.mlir.verifying import Violation
from tinyc.runtime.program import Program
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES, aligned_size

#: Sizes of the symbols at which symbolic offsets are checked: the first symbol has the first size of each row.
SAMPLES = ((1, 1, 1, 1), (2, 3, 5, 7), (150, 130, 70, 33), (64, 64, 64, 64), (257, 1, 129, 4))


def arena_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that arena buffers are aligned, inside the arena, and apart from all that live at the same time."""
    alive = program.arena_lifetimes
    if program.symbols and _is_proved(program, alive):
        return
    rows = SAMPLES if program.symbols else SAMPLES[:1]
    for row in rows:
        values = {name: row[position % len(row)] for position, name in enumerate(program.symbols)}
        found = list(_arena_at(program, op, alive, values)) if _admits(program, values) else []
        if found:
            yield from found
            return


def _is_proved(program: Program, alive: Mapping[str, tuple[int, int]]) -> bool:
    """Whether the arena is right for all sizes; False: not known."""
    buffers = [buffer for buffer in program.of_kind("arena") if buffer.name in alive]
    requests = [arena.Request(buffer.size, *alive[buffer.name]) for buffer in buffers]
    try:
        return arena.is_proved_apart([buffer.offset for buffer in buffers], requests, program.arena_bytes)
    except ExtentError:  # a difference is too long a formula
        return False


def _admits(program: Program, values: Mapping[str, int]) -> bool:
    """Whether the program may run at these sizes: its assumptions hold, and no extent is negative."""
    try:
        return all(
            each.relates(extents.evaluate(each.lhs, values), extents.evaluate(each.rhs, values))
            for each in program.assumptions
        ) and all(extents.evaluate(dim, values) >= 0 for buffer in program.buffers for dim in buffer.shape)
    except ExtentError:  # a division by zero
        return False


def _arena_at(
    program: Program, op: FunctionOp, alive: Mapping[str, tuple[int, int]], values: Mapping[str, int]
) -> Iterator[Violation]:
    at = f" at {', '.join(f'{name} = {value}' for name, value in values.items())}" if values else ""
    placed: list[arena.Placed] = []
    places = {each.buffer.value: each.location for each in op.buffers}
    try:
        total = maximum_at(program.arena_bytes, values)
        for buffer in program.of_kind("arena"):
            if buffer.name in alive:
                start, size = (extents.evaluate(dim, values) for dim in (buffer.offset, buffer.size))
                placed.append(arena.Placed(buffer.name, start, size, *alive[buffer.name]))
                if start % ALIGNMENT_BYTES:
                    yield (
                        places[buffer.name],
                        f"buffer '{buffer.name}' is at {start}, not a multiple of {ALIGNMENT_BYTES}{at}; "
                        "round its offset up",
                    )
                if start < 0:
                    message = f"buffer '{buffer.name}' is at {start}, before the arena{at}; move it to offset >= 0"
                    yield places[buffer.name], message
                elif start + size > total:
                    end = f"ends at byte {start + size}, and the arena at {total}{at}"
                    yield places[buffer.name], f"buffer '{buffer.name}' {end}; give arena_bytes >= {start + size}"
    except ExtentError:
        return  # an offset divides by zero at these sizes
    for left, right in arena.overlaps(placed):
        behind = aligned_size(left.start + left.size)
        yield (
            places[right.name],
            f"buffers '{left.name}' and '{right.name}' overlap in the arena, and both are alive in generation "
            f"{max(left.first, right.first)}{at}; move '{right.name}' to offset >= {behind}",
        )
