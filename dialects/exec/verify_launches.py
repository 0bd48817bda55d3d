"""What holds in the Exec layer of the launches: that each is one its device can make, and that their order is right.

In: a host function as a `Program`, and the kernels of the module. Out: violations, each with its place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinyc.analysis.gpu_symbols import gpu_symbols
from tinyc.dialects.exec import read
from tinyc.runtime.program import Kernel, Program
from tinyc.target import TARGETS

Violation = tuple[Any, str]

#: What every target takes: threads of a block along x, y and z, and of a block in all.
_BLOCK_LIMITS = tuple(min(getattr(target, f"threads_per_block_{axis}") for target in TARGETS) for axis in "xyz")
_BLOCK_THREADS = min(target.threads_per_block for target in TARGETS)


class Located:
    """Where the buffers and kernels of a host function stand."""

    def __init__(self, op: Any) -> None:
        self.function = op.location
        self.buffers = [each.location for each in read.body(op, "exec.buffer")]
        self.kernels = [each.location for each in read.body(op, "exec.kernel")]


def kernels_of(module: Any) -> dict[str, str]:
    """Return the memory space that each kernel of a module works on, by the kernel's name."""
    on_host = [op.operation for op in module.body.operations if op.operation.name in ("region.kernel", "func.func")]
    return {
        **dict.fromkeys(gpu_symbols(module), "device"),
        **{op.attributes["sym_name"].value: "host" for op in on_host},
    }


def launch_violations(program: Program, located: Located, kernels: Mapping[str, str]) -> Iterator[Violation]:
    """Check that the kernels exist, and where their buffers are, and that a block is one that a GPU can have."""
    spaces = sorted({buffer.memory_space for buffer in program.buffers})
    if len(spaces) > 1:
        yield located.function, f"its buffers are in different memories, {' and '.join(spaces)}"
        return
    for kernel, location in zip(program.kernels, located.kernels, strict=True):
        if kernel.symbol not in kernels:
            yield location, f"there is no kernel @{kernel.symbol} in the module"
        elif spaces and kernels[kernel.symbol] != spaces[0]:
            yield (
                location,
                f"@{kernel.symbol} works on {kernels[kernel.symbol]} memory, and its buffers are in {spaces[0]} memory",
            )
        elif kernels[kernel.symbol] == "device" and (message := _block_error(kernel)):
            yield location, message


def _block_error(kernel: Kernel) -> str | None:
    threads = 1
    for axis, size, limit in zip("xyz", kernel.block, _BLOCK_LIMITS, strict=True):
        if not isinstance(size, int) or not 1 <= size <= limit:
            return f"@{kernel.symbol} has a block of {size} threads along {axis}; it must be 1 … {limit}"
        threads *= size
    if threads > _BLOCK_THREADS:
        return f"@{kernel.symbol} has a block of {threads} threads; it must be at most {_BLOCK_THREADS}"
    if kernel.cluster != (1, 1, 1):
        size = " x ".join(map(str, kernel.cluster))
        return f"@{kernel.symbol} has clusters of {size} blocks; kernels are launched without clusters"
    return None


@dataclass
class _Use:
    """When a buffer was last written, and last read."""

    written: int
    read: int = -1


def order_violations(program: Program, located: Located) -> Iterator[Violation]:
    """Check that generations do not fall, and that what a kernel reads was written in an earlier one.

    A buffer is written once; then kernels that read it too may update it, each in a generation of its own.
    """
    uses = {buffer.name: _Use(-1) for buffer in program.of_kind("input")}
    generation = 0
    for kernel, location in zip(program.kernels, located.kernels, strict=True):
        if kernel.generation < generation:
            yield location, f"generation {kernel.generation} comes after generation {generation}"
        generation = kernel.generation
        for name in kernel.reads:
            if name not in uses or uses[name].written >= generation:
                yield location, f"@{kernel.symbol} reads '{name}', which no earlier generation writes"
        for name in kernel.writes:
            if name in uses and name not in kernel.reads:
                yield location, f"@{kernel.symbol} writes '{name}', which has been written before"
            elif name in uses and uses[name].read == generation:
                yield location, f"@{kernel.symbol} updates '{name}', which a kernel of the same generation reads"
            uses[name] = _Use(generation)
        for name in kernel.reads:
            uses.setdefault(name, _Use(generation)).read = generation
    for buffer, location in zip(program.buffers, located.buffers, strict=True):
        if buffer.name not in uses:
            yield location, f"no kernel writes buffer '{buffer.name}'"
