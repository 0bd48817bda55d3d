"""Kernels in the order of their predicted times: few steps of each are predicted, in several processes, and carried on.

In: `Candidate`s, a device. Out: `RankedKernel`s, best first. What a candidate's whole launch takes lies on the line
through two short ones, of whose arrays none is in L2: as they are smaller, they would fit. A candidate that is refused
comes last, with why.
"""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from math import inf
from multiprocessing import get_context
from pathlib import Path

from ptxsim.clock.code_source import versions_in_use
from ptxsim.clock.devices import device_of
from ptxsim.clock.estimate import Estimate
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.power import clock_under_power
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.digests import LaunchDigests
from ptxsim.clock.ranking.estimate_store import EstimateStore, Predicted
from ptxsim.clock.ranking.transport import argument_arrays, receive_launches, send_launches
from ptxsim.clock.timing import estimate_launch
from ptxsim.errors import InputError, MemoryShortage, PtxError, PtxsimError

#: Steps of a loop at which launches are predicted. Of fewer, what begins and ends a tile is a large part, and hides
#: what a step takes: of 8 and 16, persistent kernels come out up to 5 % too fast.
FEW_STEPS = (12, 24)
_ENDED = "its process was ended, maybe for lack of memory; give fewer jobs"


@dataclass(frozen=True)
class RankedKernel:
    """A candidate's predicted time: cycles of the SM's clock and seconds of its whole launch, infinite if refused.

    `extrapolated_from` are the numbers of steps that were predicted in its place, none where the whole launch was;
    `estimate` is of the longest launch that was. `near` names the candidates whose times are so near that the order
    says nothing. `error` is why there is no estimate.
    """

    name: str
    cycles: float
    seconds: float
    estimate: Estimate | None
    extrapolated_from: tuple[int, ...] = ()
    near: tuple[str, ...] = ()
    error: str = ""


def rank_kernels(
    candidates: Sequence[Candidate],
    device: str = "h100",
    jobs: int | None = None,
    cache: Path | None = None,
    apart: float = 0.05,
    few: tuple[int, int] = FEW_STEPS,
) -> tuple[RankedKernel, ...]:
    """The candidates by their predicted times, best first; refused ones last, in the given order.

    `jobs` is the number of processes, that of the cores by default; a script that asks for several has to be importable
    (`if __name__ == "__main__":`). `cache` is a folder in which estimates are kept. Times nearer than the share `apart`
    say nothing about the order. `few` are the steps that are predicted of a candidate that has more.

    Raises:
        InputError: there is no such device, ptxas or nvdisasm is missing, a name is given twice, or an option is no
            number that it can be.
        FileError: ptxas or nvdisasm cannot be run, `cache` cannot be made.
    """
    _check([each.name for each in candidates], jobs, apart, few)
    digests, store = LaunchDigests(device_of(device), versions_in_use()), EstimateStore(cache) if cache else None
    outcomes: dict[str, dict[int, Predicted]] = {}
    tasks: list[_Task] = []
    for each in candidates:
        try:
            task = _Task(each.name, each.launches(few), digests, store)
            outcomes[each.name] = dict(task.known)
            if task.missing:
                tasks.append(task.pack())
        except PtxsimError as error:
            outcomes[each.name] = {0: Predicted(None, _told(error))}
    for task, predicted in _run(tasks, device, jobs or os.cpu_count() or 1):
        for steps, found in zip(task.missing, predicted, strict=False):  # none follows a refusal
            outcomes[task.name][steps] = found
            if store and found.lasts:
                store.keep(task.digests[steps], found)
    times = [_time(each, outcomes[each.name], few) for each in candidates]
    times.sort(key=lambda each: each.seconds)
    return tuple(replace(each, near=_near(each, times, apart)) for each in times)


class _Task:
    """The launches of one candidate, by their steps: those whose estimates are kept, and those that are missing.

    One process predicts both, so that it makes SASS once.
    """

    def __init__(
        self, name: str, launches: Mapping[int, KernelLaunch], digests: LaunchDigests, store: EstimateStore | None
    ) -> None:
        self.name = name
        self.digests = {steps: digests.digest(launch) for steps, launch in launches.items()}
        found = {steps: store.find(digest) if store else None for steps, digest in self.digests.items()}
        self.known = {steps: each for steps, each in found.items() if each is not None}
        refused = any(each.estimate is None for each in self.known.values())
        self.missing = {} if refused else {steps: launches[steps] for steps in launches if steps not in self.known}
        self.sent = b""

    def pack(self) -> "_Task":
        """The task with its launches as bytes."""
        self.sent = send_launches(tuple(self.missing.values()))
        return self


def _run(tasks: Sequence[_Task], device: str, jobs: int) -> list[tuple[_Task, Sequence[Predicted]]]:
    """The tasks, each with what became of its launches."""
    if min(jobs, len(tasks)) <= 1:
        return [(each, _predict(each.sent, device)) for each in tasks]
    found = _in_processes(tasks, device, min(jobs, len(tasks)))
    # A process that is ended takes those of the others with it: each that has no result gets one of its own.
    alone = [each if each[1] else _in_processes([each[0]], device, 1)[0] for each in found]
    return [(task, predicted or [Predicted(None, _ENDED, lasts=False)]) for task, predicted in alone]


def _in_processes(tasks: Sequence[_Task], device: str, jobs: int) -> list[tuple[_Task, Sequence[Predicted]]]:
    """The tasks, each with what became of its launches: nothing, where its process was ended."""
    found: list[tuple[_Task, Sequence[Predicted]]] = []
    pool = ProcessPoolExecutor(jobs, mp_context=get_context("spawn"))
    try:
        futures = []
        for each in tasks:
            try:
                futures.append((each, pool.submit(_predict, each.sent, device)))
            except BrokenProcessPool:
                futures.append((each, None))
        for task, future in futures:
            try:
                found.append((task, future.result() if future else ()))
            except BrokenProcessPool:
                found.append((task, ()))
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def _predict(sent: bytes, device: str) -> list[Predicted]:
    """What becomes of launches, in this process, up to the first that is refused."""
    found: list[Predicted] = []
    for each in receive_launches(sent):
        for array in argument_arrays(each.args):
            array.flags.writeable = False  # what a kernel stores is not given back: nobody reads it
        try:
            found.append(Predicted(estimate_launch(each, device, recorded=1, warm=False)))
        except PtxsimError as error:
            lasts = isinstance(error, InputError | PtxError) and not isinstance(error, MemoryShortage)
            return [*found, Predicted(None, _told(error), lasts)]
    return found


def _told(error: PtxsimError) -> str:
    return f"line {error.line}: {error.message}" if isinstance(error, PtxError) else error.message


def _time(candidate: Candidate, outcomes: Mapping[int, Predicted], few: tuple[int, int]) -> RankedKernel:
    """The time of a candidate's whole launch: on the line through those of two numbers of steps."""
    name = candidate.name
    if refused := [each.error for each in outcomes.values() if each.estimate is None]:
        return RankedKernel(name, inf, inf, None, error=refused[0])
    estimates = {steps: each.estimate for steps, each in sorted(outcomes.items()) if each.estimate is not None}
    if len(estimates) == 1:
        only = next(iter(estimates.values()))
        return RankedKernel(name, only.cycles, only.seconds, only)
    short, long = estimates[few[0]], estimates[few[1]]
    if long.cycles <= short.cycles:
        error = (
            f"{few[0]} steps of it take {short.cycles:.0f} cycles, {few[1]} steps {long.cycles:.0f}: give launches of "
            "so many steps as 'shorter', or the whole launch alone"
        )
        return RankedKernel(name, inf, inf, None, error=error)
    further = (candidate.steps - few[1]) / (few[1] - few[0])
    cycles = long.cycles + (long.cycles - short.cycles) * further
    busy = {
        unit: each * long.cycles * (1 + further) - short.shares.get(unit, 0.0) * short.cycles * further
        for unit, each in long.shares.items()
    }
    clock_hz = clock_under_power(long.device, {unit: min(1.0, each / cycles) for unit, each in busy.items()})
    seconds = cycles / clock_hz + long.device.launch_seconds
    return RankedKernel(name, cycles, seconds, long, tuple(estimates))


def _near(one: RankedKernel, ranked: Sequence[RankedKernel], apart: float) -> tuple[str, ...]:
    """Whose times are nearer to one's than the share `apart` of the smaller."""
    return tuple(
        each.name
        for each in ranked
        if each.name != one.name
        and one.estimate
        and each.estimate
        and abs(each.seconds - one.seconds) <= apart * min(each.seconds, one.seconds)
    )


def _check(names: Sequence[str], jobs: int | None, apart: float, few: tuple[int, int]) -> None:
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        raise InputError(f"two candidates are called '{twice}'; give each a name of its own")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs is {jobs}; give a number of processes from 1 on")
    if not apart >= 0:
        raise InputError(f"apart is {apart}; give a share from 0 on, such as 0.05")
    if len(few) != 2 or not 1 <= few[0] < few[1]:
        raise InputError(f"few is {few}; give two different numbers of steps, the smaller one first")
