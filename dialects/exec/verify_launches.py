"""What holds in the Exec layer of the launches: that each is one its device can make, and that their order is right.

In: a host function and what it means, and the memory that each kernel of the module works on. Out: violations, each
with its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tinyc.dialects.exec.ops import FunctionOp
from tinyc.dialects.launch import Launchable
from tinyc.mlir.verifying import Violation
from tinyc.runtime.program import KernelLaunch, Program
from tinyc.target import TARGETS

#: What every target takes: threads of a CTA along x, y and z, and of a CTA in all.
_CTA_LIMITS = (
    min(target.threads_per_cta_x for target in TARGETS),
    min(target.threads_per_cta_y for target in TARGETS),
    min(target.threads_per_cta_z for target in TARGETS),
)
_CTA_THREADS = min(target.threads_per_cta for target in TARGETS)
#: What some target takes: CTAs of a cluster, and bytes of shared memory of a CTA. The layer does not know the target.
_CLUSTER_CTAS = max(target.ctas_per_cluster for target in TARGETS)
_SHARED_BYTES = max(target.shared_bytes_per_cta_optin for target in TARGETS)


def launch_violations(program: Program, op: FunctionOp, memory_spaces: Mapping[str, str]) -> Iterator[Violation]:
    """Check that the kernels exist, where their buffers are, and that a CTA is one that a GPU can have."""
    spaces = sorted({buffer.memory_space for buffer in program.buffers})
    if len(spaces) > 1:
        yield op.location, f"its buffers are in different memories, {' and '.join(spaces)}; write one memory_space"
        return
    launches = [(each, at) for kernel, at in zip(program.kernels, op.kernels, strict=True) for each in kernel.launches]
    for kernel, at in launches:
        if kernel.symbol not in memory_spaces:
            known = ", ".join(f"@{symbol}" for symbol in memory_spaces) or "none"
            yield at.location, f"there is no kernel @{kernel.symbol} in the module; it has {known}"
        elif spaces and memory_spaces[kernel.symbol] != spaces[0]:
            space = memory_spaces[kernel.symbol]
            where = f"works on {space} memory, and its buffers are in {spaces[0]} memory"
            yield at.location, f"@{kernel.symbol} {where}; give them memory_space '{space}'"
        elif memory_spaces[kernel.symbol] == "host" and kernel.tensor_maps:
            yield at.location, f"@{kernel.symbol} works on host memory, and takes tensor maps, which are a GPU's"
        elif memory_spaces[kernel.symbol] == "device" and (message := _cta_error(kernel) or _cluster_error(kernel)):
            yield at.location, message


def trip_count_violations(
    program: Program, op: FunctionOp, launchables: Mapping[str, Launchable]
) -> Iterator[Violation]:
    """Check that a kernel which still says how it is launched on the host has the trip count that it says."""
    launches = [(each, at) for kernel, at in zip(program.kernels, op.kernels, strict=True) for each in kernel.launches]
    for kernel, at in launches:
        launchable = launchables.get(kernel.symbol)
        if launchable is None or launchable.memory_space != "host":
            continue
        grid = launchable.contract().grid
        if kernel.grid != grid:
            given, needed = (f"[{', '.join(map(str, each))}]" for each in (kernel.grid, grid))
            yield at.location, f"@{kernel.symbol} has a grid of {given}, and its region one of {needed}; write that"


def _cta_error(kernel: KernelLaunch) -> str | None:
    threads = 1
    for axis, size, limit in zip("xyz", kernel.block, _CTA_LIMITS, strict=True):
        if not isinstance(size, int) or not 1 <= size <= limit:
            return f"@{kernel.symbol} has a CTA of {size} threads along {axis}; it must be 1 … {limit}"
        threads *= size
    if threads > _CTA_THREADS:
        return f"@{kernel.symbol} has a CTA of {threads} threads; it must be at most {_CTA_THREADS}"
    return None


def _cluster_error(kernel: KernelLaunch) -> str | None:
    shown, ctas = " x ".join(map(str, kernel.cluster)), 1
    for size, count in zip(kernel.cluster, kernel.grid, strict=True):
        if not isinstance(size, int) or size < 1:
            return f"@{kernel.symbol} has clusters of {shown} CTAs; each size must be a number, at least 1"
        if isinstance(count, int) and count % size:
            grid = " x ".join(map(str, kernel.grid))
            return f"@{kernel.symbol} has a grid of {grid} CTAs, which clusters of {shown} do not divide"
        ctas *= size
    if ctas > _CLUSTER_CTAS:
        return f"@{kernel.symbol} has clusters of {shown} CTAs; they may have {_CLUSTER_CTAS}"
    size_bytes = kernel.dynamic_shared_bytes
    if isinstance(size_bytes, int) and not 0 <= size_bytes <= _SHARED_BYTES:
        return f"@{kernel.symbol} has {size_bytes} bytes of dynamic shared memory; it must be 0 … {_SHARED_BYTES}"
    return None


@dataclass
class _Use:
    """When a buffer was last written, and last read."""

    written: int
    read: int = -1


def order_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that generations do not fall, and that what a kernel reads was written in an earlier one.

    A buffer is written once; then kernels that read it too may update it, each in a generation of its own.
    """
    given = (buffer for buffer in program.buffers if buffer.kind in ("input", "weight", "constant"))
    uses = {buffer.name: _Use(-1) for buffer in given}
    generation = 0
    for kernel, at in zip(program.kernels, op.kernels, strict=True):
        if kernel.generation < generation:
            yield (
                at.location,
                f"generation {kernel.generation} comes after generation {generation}; order the kernels by it",
            )
        generation = kernel.generation
        for name in kernel.reads:
            if name not in uses or uses[name].written >= generation:
                yield (
                    at.location,
                    f"@{kernel.symbol} reads '{name}', which no earlier generation writes; write it in one",
                )
        for name in kernel.writes:
            if name in uses and name not in kernel.reads:
                earlier = f"@{kernel.symbol} writes '{name}', which has been written before"
                yield at.location, f"{earlier}; write another buffer, or read it too"
            elif name in uses and uses[name].read == generation:
                beside = f"@{kernel.symbol} updates '{name}', which a kernel of the same generation reads"
                yield at.location, f"{beside}; update it in a later one"
            uses[name] = _Use(generation)
        for name in kernel.reads:
            uses.setdefault(name, _Use(generation)).read = generation
    for buffer, at in zip(program.buffers, op.buffers, strict=True):
        if buffer.name not in uses:
            yield at.location, f"no kernel writes buffer '{buffer.name}'; write it, or drop it"
