"""The statements by which teams wait: for each other, at barriers, and for what goes on beside them, in groups."""

from collections.abc import Generator, Sequence

from tinyc.dialects.gpu.dialect import mbarrier_stages
from tinyc.dialects.gpu.kernel import WARP_LANES
from tinyc.dialects.gpu.statements import (
    ClusterBarrierOp,
    CommitGroupOp,
    FenceAsyncOp,
    MbarrierArriveOp,
    MbarrierExpectTxOp,
    MbarrierInitOp,
    MbarrierWaitOp,
    NamedBarrierOp,
    WaitGroupOp,
    WarpBarrierOp,
)
from tinyc.executors.gpu.memory import KernelFault
from tinyc.executors.gpu.tiles.mbarriers import Mbarrier
from tinyc.executors.gpu.tiles.products import InFlight
from tinyc.executors.gpu.tiles.schedule import CoroutineSteps, Waiting
from tinyc.executors.gpu.tiles.stages import name_in_messages
from tinyc.executors.gpu.tiles.team import HeldTile, Meeting, Team, mbarrier_of
from tinyc.mlir import ir


def commit_group(team: Team, op: CommitGroupOp) -> Sequence[HeldTile]:
    """Close a group."""
    team.groups[op.kind.value].commit()
    return []


def wait_group(team: Team, op: WaitGroupOp) -> Sequence[HeldTile]:
    """Wait for groups: each thread then knows what it has started itself to be over."""
    groups, pending = team.groups[op.kind.value], max(op.pending.value, 0)
    team.known.note(groups.wait(pending))
    held: list[InFlight] = [team.values[each] for each in op.operands]
    if op.pending.value:
        return held
    if any(event in groups.open for each in held for event in each.events):
        raise KernelFault("'tgpu.wait_group' waits for a product that is in no group; 'tgpu.commit_group' is missing")
    return [each.sums for each in held]


def mbarrier_init(team: Team, op: MbarrierInitOp) -> Sequence[HeldTile]:
    """Make the mbarriers of all stages."""
    made = team.done_by_threads()
    shown, count = name_in_messages(op.barriers), op.arrivals.value
    team.cta.mbarriers[op.barriers] = [
        Mbarrier(f"mbarrier {stage} of {shown} (CTA {team.cta.rank} of its cluster)", count, made)
        for stage in range(mbarrier_stages(op.barriers.type))
    ]
    return [None]


def mbarrier_expect_tx(team: Team, op: MbarrierExpectTxOp) -> Sequence[HeldTile]:
    """Arrive, one thread, and expect bytes."""
    expected = ir.IntegerAttr(op.attributes["bytes"]).value
    mbarrier_of(team, op.barriers, op.stage).arrive(1, team.known.handed_on, expected)
    return []


def mbarrier_arrive(team: Team, op: MbarrierArriveOp) -> Sequence[HeldTile]:
    """Arrive once for each warp, at so many CTAs."""
    if not all(team.number(each) for each in op.condition):
        return []
    ctas = team.cta.cluster.ctas[: op.ctas.value] if op.ctas.value > 1 else [team.cta]
    if len(ctas) != op.ctas.value:
        raise KernelFault(f"'tgpu.mbarrier_arrive' is for {op.ctas.value} CTAs, and the cluster has {len(ctas)}")
    for each in ctas:
        if each is not team.cta:
            each.used_by_others.add(team.done_by_threads())
        mbarrier_of(team, op.barriers, op.stage, each).arrive(team.warps, team.known.handed_on)
    return []


def mbarrier_wait(team: Team, op: MbarrierWaitOp) -> CoroutineSteps:
    """Wait until a phase has ended; all threads then know what those knew who have arrived."""
    barrier, parity = mbarrier_of(team, op.barriers, op.stage), team.number(op.parity)
    yield Waiting(lambda: barrier.has_ended(parity), lambda: f"at {barrier.name} (parity {parity}), {barrier.missing}")
    team.known.learn(barrier.known)
    return []


def named_barrier(team: Team, op: NamedBarrierOp) -> CoroutineSteps:
    """Wait at the warpgroup's barrier."""
    number = op.id.value + (team.group or 0)
    meeting = team.cta.meetings.setdefault(number, Meeting())
    threads = team.warps * WARP_LANES
    yield from _met(team, meeting, threads, op.threads.value, f"barrier {number}", team.known.handed_on)
    team.known.share()
    return []


def warp_barrier(team: Team, op: WarpBarrierOp) -> Sequence[HeldTile]:
    """Let lanes know what others of their warp have done."""
    team.known.meet_in_warps()
    return []


def cluster_barrier(team: Team, op: ClusterBarrierOp) -> CoroutineSteps:
    """Wait for all threads of the cluster; relaxed, it tells of the mbarriers that they have made only."""
    cluster = team.cta.cluster
    if team.group is not None:
        raise KernelFault(f"{team.name} is at a '{op.name}', which not all threads of the CTA come to")
    told = team.known.handed_on
    if op.relaxed.value:
        told &= {each.made for barriers in team.cta.mbarriers.values() for each in barriers}
    yield from _met(team, cluster.meeting, 1, len(cluster.ctas), "the barrier of the cluster", told)
    if not op.relaxed.value:
        team.known.share()
    return []


def _met(
    team: Team, meeting: Meeting, count: int, all_of_them: int, what: str, told: set[int]
) -> Generator[Waiting, None, None]:
    """Come to a barrier, and wait for the others; all threads then know what any of them has told."""
    meeting.came += count
    meeting.told |= told
    if meeting.came > all_of_them:
        raise KernelFault(f"{meeting.came} threads come to {what}, which waits for {all_of_them}")
    this_round = meeting.rounds
    if meeting.came == all_of_them:
        meeting.came, meeting.rounds = 0, meeting.rounds + 1
    yield Waiting(
        lambda: meeting.rounds > this_round, lambda: f"at {what}, where {meeting.came} of {all_of_them} have come"
    )
    team.known.learn(meeting.told)


def fence_async(team: Team, op: FenceAsyncOp) -> Sequence[HeldTile]:
    """Let tensor cores and TMA see what the threads have written."""
    team.known.fence()
    return []
