"""What holds of a launch that writes a buffer where one lies that it reads: `in_place` of `exec.kernel`.

The kernel and each of its alternatives have to offer the pair, as long as they are kernels that say what they offer;
nothing else may need what is overwritten; and the two have to be one place. A violation is reported at the launch.
"""

from collections.abc import Iterator, Mapping

from tinyc.dialects.exec.ops import FunctionOp
from tinyc.dialects.launch import Launchable
from tinyc.mlir.verifying import Violation
from tinyc.runtime.program import KernelLaunch, Program


def in_place_violations(program: Program, op: FunctionOp, launchables: Mapping[str, Launchable]) -> Iterator[Violation]:
    """Check each pair of buffers that share their place in one launch."""
    for kernel, at in zip(program.kernels, op.kernels, strict=True):
        for read, written in kernel.in_place:
            reason = (
                _why_no_buffers(program, kernel, read, written)
                or _why_needed(program, kernel, read, written)
                or next(
                    filter(None, (_why_not_offered(each, read, written, launchables) for each in kernel.launches)), None
                )
            )
            if reason is not None:
                pair = f"@{kernel.symbol} has in_place of '{read}' and '{written}'"
                yield at.location, f"{pair}, but {reason}; leave the pair out, and give '{written}' a place of its own"


def _why_no_buffers(program: Program, kernel: KernelLaunch, read: str, written: str) -> str | None:
    """Why a pair is not two buffers at one place of the arena, the first read and the second written."""
    held = {buffer.name: buffer for buffer in program.of_kind("arena")}
    for name in (read, written):
        if name not in held:
            return f"'{name}' is no buffer of the arena"
    if read not in kernel.reads or read in kernel.writes:
        return f"it does not only read '{read}'"
    if written not in kernel.writes or written in kernel.reads:
        return f"it does not only write '{written}'"
    if held[read].size != held[written].size:
        return f"they have {held[read].size} and {held[written].size} bytes"
    if held[read].offset != held[written].offset:
        return f"they are at {held[read].offset} and {held[written].offset}"
    return None


def _why_needed(program: Program, kernel: KernelLaunch, read: str, written: str) -> str | None:
    """Why what is read must stay: another kernel needs it then, or later."""
    for other in program.kernels:
        uses = (*other.reads, *other.writes)
        if other is not kernel and read in uses and other.generation >= kernel.generation:
            return f"@{other.symbol} uses '{read}' in generation {other.generation}"
        if other is not kernel and written in uses and other.generation <= kernel.generation:
            return f"@{other.symbol} uses '{written}' in generation {other.generation}"
    return None


def _why_not_offered(
    launch: KernelLaunch, read: str, written: str, launchables: Mapping[str, Launchable]
) -> str | None:
    """Why a kernel or an alternative cannot do it; None where it has been lowered so far that it does not say."""
    launchable = launchables.get(launch.symbol)
    offered = None if launchable is None else launchable.in_place
    if offered is None:
        return None
    numbered = [(number, pointer.buffer) for number, pointer in enumerate(launch.pointers)]
    results = [number for number, name in numbered if name == written]
    if all((number, result) in offered for number, name in numbered if name == read for result in results):
        return None
    shown = ", ".join(map(str, offered)) or "none"
    return f"the contract of @{launch.symbol} offers {shown} by the positions of its buffers"
