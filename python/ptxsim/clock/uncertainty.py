"""How far an estimate may be off, and what of a launch the model is not good for.

In: what is known of a launch and its estimate. Out: relative uncertainties by their reasons, and cautions in words. The
base is how far published speeds of kernels on a device are missed (`model_error` of its table); what makes a launch
less like those comes on top.
"""

from collections.abc import Mapping, Sequence

from ptxsim.clock.devices import Device
from ptxsim.clock.kernel_code import KernelCode
from ptxsim.clock.recording.trace import Recording
from ptxsim.linking.code import Code

#: Seconds that the launch itself is uncertain by: published ones go from 2.0e-6 (of a graph) to 4e-6 (of a stream).
_LAUNCH_SECONDS = 1e-6
#: Shorter launches are not what the model was compared with.
_SHORT_SECONDS = 10e-6
#: Of the difference between the nominal clock and the one under power, what is not known: data, cooling, the card.
_OF_THE_CLOCK = 0.5
#: What is not known of the rates of L2 and HBM, for the part of the time that they are busy.
_OF_MEMORY = 0.1


def uncertainties_of(
    device: Device, seconds: float, clock_hz: float, shares: Mapping[str, float], matched: float
) -> Mapping[str, float]:
    """The relative uncertainties of a launch of so many seconds, by their reasons."""
    memory = max(shares.get("L2", 0.0), shares.get("HBM", 0.0))
    found = {
        f"published kernels on {device.title}": float(device.model_error),
        "the clock under power": _OF_THE_CLOCK * (1 - clock_hz / device.nominal_hz),
        "the rates of L2 and HBM": _OF_MEMORY * memory,
        "the launch itself": _LAUNCH_SECONDS / seconds,
        "the way through the SASS": 2 * (1 - matched),
    }
    return {reason: value for reason, value in found.items() if value >= 0.001}


def cautions_of(
    code: KernelCode, ptx: Code, seconds: float, executed: Sequence[int], is_exact: bool
) -> tuple[str, ...]:
    """What the model is not good for and a launch does.

    `executed` are the instructions that were, by flat index; `is_exact` is the memory model's.
    """
    found: list[str] = []
    if seconds < _SHORT_SECONDS:
        found.append(f"it takes less than {_SHORT_SECONDS * 1e6:.0f} us: starts, first fetches and cold caches decide")
    atomics = [ptx.instructions[at] for at in executed if ptx.instructions[at].opcode == "atom"]
    if any("shared" not in "".join(each.modifiers) for each in atomics):
        found.append(
            f"line {atomics[0].line} has the result of an atomic operation: if its way depends on it, as that of a "
            "counter of tiles, it is the recorded one that is timed"
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
