"""What holds of the ConstPool: buffers lie apart from each other and inside it, and kernels fill it before all runs."""

from collections.abc import Iterator

from tinyc.dialects.exec.ops import FunctionOp
from tinyc.mlir.verifying import Violation
from tinyc.runtime.program import POOL_KINDS, Program
from tinyc.vocabulary.alignment import ALIGNMENT_BYTES


def pool_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check the places in the pool, and that it is filled by kernels of the stage `prepare` alone."""
    found = [*_place_violations(program, op)]
    yield from found or _stage_violations(program, op)


def _place_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that pool buffers have known sizes and lie one behind the other, aligned, in the pool."""
    end, before = 0, None
    for buffer, at in zip(program.buffers, op.buffers, strict=True):
        if buffer.kind not in POOL_KINDS:
            continue
        if not isinstance(buffer.size, int) or not isinstance(buffer.offset, int):
            unknown = f"'{buffer.name}' is of kind '{buffer.kind}', whose size and offset are numbers"
            yield at.location, f"{unknown}; bind its extents"
            return
        if buffer.offset < 0 or buffer.offset % ALIGNMENT_BYTES:
            wrong = f"'{buffer.name}' is at {buffer.offset}, not a multiple of {ALIGNMENT_BYTES}"
            yield at.location, f"{wrong}; round its offset up"
        if buffer.offset < end:
            behind = f"'{buffer.name}' is at {buffer.offset}, and '{before}' ends at {end}"
            yield at.location, f"{behind}; the buffers of the pool lie one behind the other: move it there"
        end, before = buffer.offset + buffer.size, buffer.name
        if end > program.pool_bytes:
            beyond = f"'{buffer.name}' ends at byte {end}, and the pool at {program.pool_bytes}"
            yield at.location, f"{beyond}; give pool_bytes >= {end}"


def _stage_violations(program: Program, op: FunctionOp) -> Iterator[Violation]:
    """Check that kernels of the stage `prepare` read and write the pool, come first, and depend on no run."""
    kinds = {buffer.name: buffer.kind for buffer in program.buffers}
    first_run = min((kernel.generation for kernel in program.of_stage(prepare=False)), default=None)
    for kernel, at in zip(program.kernels, op.kernels, strict=True):
        if not kernel.prepare:
            for name in kernel.writes:
                if kinds[name] == "prepared":
                    only = "which kernels of the stage 'prepare' write"
                    yield at.location, f"@{kernel.symbol} writes '{name}', {only}; write another, or mark it 'prepare'"
            continue
        outside = [name for name in kernel.reads if kinds[name] not in POOL_KINDS]
        outside += [name for name in kernel.writes if kinds[name] != "prepared"]
        if outside:
            each = f"of the stage 'prepare' and works on '{outside[0]}', of kind '{kinds[outside[0]]}'"
            yield at.location, f"@{kernel.symbol} is {each}; it may read the pool and write 'prepared' buffers"
        if kernel.extents or kernel.status:
            yield at.location, f"@{kernel.symbol} is of the stage 'prepare', and has extents or a status of a run"
        if first_run is not None and kernel.generation >= first_run:
            later = f"of the stage 'prepare' in generation {kernel.generation}, and runs begin in {first_run}"
            yield at.location, f"@{kernel.symbol} is {later}; prepare before all runs, in generations of their own"
