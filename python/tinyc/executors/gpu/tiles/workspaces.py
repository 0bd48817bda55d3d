"""The statements on workspaces, by which CTAs hand on partial sums: in turns, or to the kernel behind.

Who reads or writes sums must know who has written them: by a semaphore and a barrier, or because its own threads have,
each those of the same accumulators.
"""

from collections.abc import Sequence

from tinyc.dialects.gpu.statements import AddPartialOp, SemaphoreReleaseOp, SemaphoreWaitOp, StorePartialOp
from tinyc.executors.gpu.memory import KernelFault
from tinyc.executors.gpu.tiles.schedule import CoroutineSteps, Waiting
from tinyc.executors.gpu.tiles.team import HeldTile, Team


def store_partial(team: Team, op: StorePartialOp) -> Sequence[HeldTile]:
    """Write accumulators to a plane."""
    sums, memory = team.values[op.accumulator], team.launch.tensors[op.workspace]
    part, written = _part(team, op, sums.shape), team.launch.partial_sums_of(op.workspace)
    written.require_known(op.name, team.known.of_all, team, part)
    event = team.done_by_threads()
    written.events[part], written.teams[event] = event, team
    memory[part] = sums
    return []


def add_partial(team: Team, op: AddPartialOp) -> Sequence[HeldTile]:
    """Add a part of a plane to accumulators."""
    sums, memory = team.values[op.accumulator], team.launch.tensors[op.workspace]
    part = _part(team, op, sums.shape)
    team.launch.partial_sums_of(op.workspace).require_known(op.name, team.known.of_all, team, part)
    return [sums + memory[part]]


def _part(team: Team, op: StorePartialOp | AddPartialOp, tile: tuple[int, ...]) -> tuple[int, slice, slice]:
    plane, row, column = (team.number(each) for each in (op.plane, op.row, op.column))
    ends = plane + 1, row + tile[0], column + tile[1]
    if any(end > extent for end, extent in zip(ends, team.launch.tensors[op.workspace].shape, strict=True)):
        raise KernelFault(f"'{op.name}' reaches plane {plane}, row {ends[1]}, column {ends[2]}, beyond its workspace")
    return plane, slice(row, ends[1]), slice(column, ends[2])


def semaphore_wait(team: Team, op: SemaphoreWaitOp) -> CoroutineSteps:
    """Wait for a turn; one of the threads then knows what those knew who have released the semaphore."""
    number, turn = team.number(op.number), team.number(op.turn)
    numbers = team.launch.tensors[op.workspace]
    yield Waiting(
        lambda: int(numbers[number]) == turn, lambda: f"for turn {turn} of semaphore {number}, at {numbers[number]}"
    )
    team.known.note(team.launch.released.get((op.workspace, number), set()))
    return []


def semaphore_release(team: Team, op: SemaphoreReleaseOp) -> Sequence[HeldTile]:
    """Let the next turn begin, which then knows what all threads know."""
    number = team.number(op.number)
    team.launch.released.setdefault((op.workspace, number), set()).update(team.known.of_all)
    team.launch.tensors[op.workspace][number] += 1
    return []
