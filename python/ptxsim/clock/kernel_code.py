"""The code of a kernel as the replay takes it: operations, the streams of its warps, what each instruction computes.

In: PTX, a kernel, a device. Out: `KernelCode`. FLOPs are those that warps execute, with all lanes, a multiply-add
counted as two: also what a guard discards, and products of padded tiles.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ptxsim.clock.devices import Device
from ptxsim.clock.recording.trace import WarpTrace
from ptxsim.clock.replay.operations import WARPGROUP_WARPS, SassOperation, operation_of
from ptxsim.clock.replay.path import PathFinder
from ptxsim.clock.replay.stream import StreamMaker, WarpStream
from ptxsim.clock.sass.kernel_costs import sass_of
from ptxsim.clock.sass.listing import SassInstruction
from ptxsim.clock.sass.pipes import Pipe, pipe_of, tensor_shape
from ptxsim.clock.sass.register_banks import bank_reads
from ptxsim.clock.sass.resources import PtxasWarning, ResourceUse
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.machine.warp import WARP

#: Operations of one lane.
_LANE_FLOPS = {
    **dict.fromkeys(("FADD", "FMUL", "DADD", "DMUL"), 1),
    **dict.fromkeys(("FFMA", "DFMA", "HADD2", "HMUL2"), 2),
    "HFMA2": 4,
}


@dataclass(frozen=True)
class Flops:
    """Floating-point operations on the tensor pipes, and on the others."""

    tensor: float
    other: float


@dataclass(frozen=True)
class KernelCode:
    """A kernel's operations and how many FLOPs each one is, by index, and what makes the stream of a warp.

    `resources` are what it takes of an SM, `warnings` what ptxas has warned of, `source` what all that comes from.
    """

    operations: Sequence[SassOperation]
    flops: Sequence[Flops]
    stream_of: Callable[[WarpTrace], WarpStream]
    resources: ResourceUse
    warnings: tuple[PtxasWarning, ...]
    source: str

    def work(self, streams: Iterable[WarpStream]) -> Flops:
        """The FLOPs of warps."""
        executed: Counter[int] = Counter()
        for stream in streams:
            executed.update(stream.instructions)
        counts = [(self.flops[index], count) for index, count in executed.items()]
        return Flops(
            sum(each.tensor * count for each, count in counts), sum(each.other * count for each, count in counts)
        )


def sass_code(ptx: str, kernel: str, device: Device) -> KernelCode:
    """The code of a kernel from the SASS that ptxas makes of it.

    Raises:
        InputError: there is no such kernel, a program is missing or too old.
        PtxError: the text is malformed, or ptxas refuses it; with its line.
        FileError: a program cannot be run.
    """
    sass = sass_of(ptx, device.arch, kernel)
    maker = StreamMaker(sass.code, PathFinder(ptx_runs(sass.code), sass.function))
    instructions = sass.function.instructions
    operations = [
        operation_of(each, device)._replace(even=even, odd=odd)
        for each, (even, odd) in zip(instructions, bank_reads(sass.function), strict=True)
    ]
    flops = list(map(_flops_of, instructions))
    source = f"SASS of ptxas {sass.ptxas_version}"
    return KernelCode(operations, flops, maker.stream, sass.resources, sass.warnings, source)


def _flops_of(each: SassInstruction) -> Flops:
    if pipe_of(each) is Pipe.TENSOR:
        m, n, k = tensor_shape(each) or (0, 0, 0)
        return Flops(2.0 * m * n * k / (WARPGROUP_WARPS if each.opcode.endswith("GMMA") else 1), 0.0)
    if "-RZ, RZ" in each.operands:  # a move of a constant
        return Flops(0.0, 0.0)
    return Flops(0.0, WARP * _LANE_FLOPS.get(each.opcode, 0.0))
