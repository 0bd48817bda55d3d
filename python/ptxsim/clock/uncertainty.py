"""How far an estimate may be off, and what of a launch the model is not good for.

In: what is known of a launch and its estimate. Out: relative uncertainties by their reasons, and cautions in words. The
base is how far published speeds of kernels on a device are missed (`model_error` of its table); what makes a launch
less like those comes on top.
"""

from collections.abc import Mapping, Sequence

from ptxsim.clock.devices import Device
from ptxsim.clock.kernel_code import KernelCode
from ptxsim.clock.recording.trace import Recording
from ptxsim.machine.site import Site
from ptxsim.parsing.syntax import Instruction

#: Seconds that the launch itself is uncertain by: published ones go from 2.0e-6 (of a graph) to 4e-6 (of a stream).
_LAUNCH_SECONDS = 1e-6
#: Shorter launches are not what the model was compared with.
_SHORT_SECONDS = 10e-6
#: Of the difference between the nominal clock and the one under power, what is not known: data, cooling, the card.
_OF_THE_CLOCK = 0.5
#: What is not known of a launch in which the result of an atomic operation is used: whole tiles may be counted twice.
_BY_ATOMICS = 0.5
#: Operations that threads wait for each other at, if they have one address.
_ATOMICS = frozenset({"atom", "red"})
#: Recorded clusters that issue so many times as many instructions as others are not alike.
_UNLIKE = 1.2
#: What is not known of the rates of L2 and HBM, for the part of the time that they are busy.
_OF_MEMORY = 0.1


def uncertainties_of(
    device: Device, seconds: float, clock_hz: float, shares: Mapping[str, float], matched: float, imbalance: float
) -> dict[str, float]:
    """The relative uncertainties of a launch of so many seconds, by their reasons.

    `imbalance` is the fullest slice of L2 over the mean one, which the replay takes to be 1.
    """
    memory = max(shares.get("L2", 0.0), shares.get("HBM", 0.0))
    found = {
        f"published kernels on {device.title}": float(device.model_error),
        "the clock under power": _OF_THE_CLOCK * (1 - clock_hz / device.nominal_hz),
        "the rates of L2 and HBM": _OF_MEMORY * memory,
        "slices of L2 that are fuller than others": (imbalance - 1) * shares.get("L2", 0.0),
        "the launch itself": _LAUNCH_SECONDS / seconds,
        "the way through the SASS": 2 * (1 - matched),
    }
    return {reason: value for reason, value in found.items() if value >= 0.001}


def uncertainties_of_way(
    sites: Sequence[Site], executed: Sequence[int], cluster_lengths: Sequence[int]
) -> dict[str, float]:
    """The relative uncertainties of what other clusters do, by their reasons.

    `executed` are the instructions that were, by flat index; `cluster_lengths` how many each recorded cluster issues.
    """
    found = {
        "what is done with the result of an atomic operation": _BY_ATOMICS if _atomics_used(sites, executed) else 0.0,
        "clusters that are not recorded": (1 - min(cluster_lengths) / max(1, *cluster_lengths)) / 2,
    }
    return {reason: value for reason, value in found.items() if value >= 0.001}


def cautions_of(
    code: KernelCode,
    sites: Sequence[Site],
    seconds: float,
    executed: Sequence[int],
    is_exact: bool,
    cluster_lengths: Sequence[int],
) -> tuple[str, ...]:
    """What the model is not good for and a launch does.

    `executed` are the instructions that were, by flat index; `is_exact` is the memory model's; `cluster_lengths` are
    how many instructions each recorded cluster issues.
    """
    found: list[str] = []
    if seconds < _SHORT_SECONDS:
        found.append(f"it takes less than {_SHORT_SECONDS * 1e6:.0f} us: starts, first fetches and cold caches decide")
    if atomics := _atomics_used(sites, executed):
        found.append(
            f"line {atomics[0].instruction.line} has the result of an atomic operation, which is used: if its way "
            "depends on it, as on a counter of tiles, the recorded clusters have done the work of others, too, and the "
            "time says nothing"
        )
    ran = (sites[at].instruction for at in executed)
    if any(each.opcode in _ATOMICS and _is_global(each) for each in ran):
        found.append("atomic operations cost as much as loads here: those of many threads on one address take longer")
    least, most = min(cluster_lengths), max(cluster_lengths)
    if most > _UNLIKE * least:
        found.append(
            f"the recorded clusters issue {least} to {most} instructions: others are taken to do what the nearest of "
            "them does; record more (--clusters)"
        )
    if not is_exact:
        found.append(
            "where other clusters read is put together from some of them, and others that were looked at read "
            "elsewhere: what L2 has may be another share"
        )
    if spilled := code.resources.spill_load_bytes + code.resources.spill_store_bytes:
        found.append(f"ptxas spills {spilled} bytes of a thread to local memory")
    found += [f"ptxas warns: {each.text}" for each in code.warnings if each.code.startswith("C75")]
    return tuple(found)


def executed_of(recording: Recording) -> frozenset[int]:
    """The instructions that some warp executed, by flat index."""
    runs = {(run.start, run.end) for trace in recording.warps for run in trace.runs}
    return frozenset(at for start, end in runs for at in range(start, end))


def _atomics_used(sites: Sequence[Site], executed: Sequence[int]) -> list[Site]:
    """The atomic operations on global memory whose results some other instruction reads."""
    atomics = [sites[at] for at in executed if sites[at].instruction.opcode == "atom"]
    used = [(each, set(each.writes)) for each in atomics if _is_global(each.instruction)]
    return [each for each, writes in used if any(writes & set(one.reads) for one in sites if one is not each)]


def _is_global(each: Instruction) -> bool:
    return not any(word.startswith("shared") for word in each.modifiers)
