"""What the replay does for each kind of SASS instruction: a number for its kind, the pipe, and the pipe's cycles.

In: a `SassInstruction` and a `Device`. Out: a `SassOperation`, computed once for each instruction of a function.
"""

import re
from typing import NamedTuple

from ptxsim.clock.devices import Device
from ptxsim.clock.sass.listing import SassInstruction
from ptxsim.clock.sass.pipes import WORD_BYTES, Pipe, access_bytes, pipe_of, tensor_shape
from ptxsim.clock.sass.scoreboards import counted_wait
from ptxsim.machine.warp import WARP
from ptxsim.memory.traffic import PASS_BYTES

#: Warps that execute a warpgroup's product together.
WARPGROUP_WARPS = 4
#: Kinds of operations that the replay tells apart.
(
    PLAIN,
    GLOBAL_LOAD,
    SHARED_ACCESS,
    GLOBAL_STORE,
    COPY_IN,
    PRODUCT,
    GROUP_WAIT,
    BOARD_WAIT,
    SYNC,
    BULK,
    COMMIT,
    VARIABLE,
) = range(12)

_SHARED = frozenset({"LDS", "LDSM", "STS", "STSM", "ATOMS", "SHFL"})
_LOADS = frozenset({"LDG", "LD", "LDL", "LDC", "ATOMG", "ATOM"})
_STORES = frozenset({"STG", "ST", "STL", "RED", "REDG"})
#: Opcodes and modifiers of what L1 is not asked for: copies of 16 bytes past it, `ld.cg`, `ld.volatile`, atomics.
_PAST_L1 = frozenset({"BYPASS", "STRONG", "ATOM", "ATOMG"})
_READ_ONLY = frozenset({"CONSTANT", "BYPASS"})
#: (m, n, k) of a product, and of one of a warpgroup that does not tell it.
Shape = tuple[int, int, int]
_WIDEST: Shape = (64, 256, 16)
#: The register of groups of warpgroup products, in a product that ends its group.
_GROUP = "gsb0"


class SassOperation(NamedTuple):
    """One SASS instruction as the replay sees it.

    `pipe` is the number of a sub-partition's pipe, -1 for none, `interval` the cycles that it takes of it; `latency`
    those until its result is there where no memory decides. Behind one that `switches` the issue port would rather take
    another warp. `count` is how many groups or scoreboards a wait leaves open, `board` the scoreboard that it waits
    for. `shared_bytes` are what a warp's product reads of shared memory. `is_cached`: what it reads of global memory is
    kept in L1. `fewest_passes` are what shared memory needs for a warp's registers, all of whose lanes get their own.
    `even` and `odd` are how many registers it reads of each bank, `registers` those of a lane that an access of global
    or local memory moves; one that is `read_only` asks L2 for no coherence.
    """

    kind: int
    stall: int
    waits: tuple[int, ...]
    write: int
    read: int
    pipe: int
    interval: float
    latency: float
    line: int
    count: int = 0
    board: int = -1
    ends_group: bool = False
    shared_bytes: float = 0.0
    switches: bool = False
    is_cached: bool = False
    fewest_passes: int = 0
    even: int = 0
    odd: int = 0
    registers: int = 0
    read_only: bool = False


#: The pipes of a sub-partition; a pipe's number is its place.
PIPES = (Pipe.FMA, Pipe.ALU, Pipe.HALF, Pipe.DOUBLE, Pipe.MUFU, Pipe.TENSOR)
_NUMBERS = {pipe: number for number, pipe in enumerate(PIPES)}
TENSOR = _NUMBERS[Pipe.TENSOR]


def operation_of(each: SassInstruction, device: Device) -> SassOperation:
    """The operation of an instruction on a device."""
    pipe = pipe_of(each)
    kind, interval, latency = PLAIN, _interval(each, pipe, device), 0.0
    count, board, ends, shared_bytes = 0, -1, False, 0.0
    opcode = each.opcode
    if opcode.endswith("GMMA"):
        shape = tensor_shape(each)
        kind, ends, read_bytes = PRODUCT, _GROUP in each.operands, warpgroup_bytes(shape, _has_a_in_registers(each))
        interval, shared_bytes = warpgroup_cycles(shape, read_bytes, device), read_bytes / WARPGROUP_WARPS
    elif opcode == "WARPGROUP" and "DEPBAR" in each.modifiers:
        kind, count = GROUP_WAIT, _groups_left(each.operands)
    elif opcode == "DEPBAR":
        kind, (board, count) = BOARD_WAIT, counted_wait(each) or (-1, 0)
    elif opcode in _SHARED:
        kind = SHARED_ACCESS
        latency = device.shuffle_latency if opcode == "SHFL" else device.shared_latency
        latency = device.ldmatrix_latency if opcode in ("LDSM", "STSM") else latency
    elif opcode == "LDGSTS":
        kind = COPY_IN
    elif opcode == "LDGDEPBAR":
        kind = COMMIT
    elif opcode in _LOADS:
        kind = GLOBAL_LOAD
        latency = device.l1_latency if opcode == "LDL" else device.shared_latency  # of what L1 and constants have
    elif opcode in _STORES:
        kind = GLOBAL_STORE
    elif pipe is Pipe.TMA:
        kind = BULK
    elif opcode in ("SYNCS", "BAR", "UCGABAR_ARV", "UCGABAR_WAIT"):
        kind = SYNC
    elif each.control.write_scoreboard is not None:
        kind, latency = VARIABLE, device.mufu_latency
    control = each.control
    write, read = control.write_scoreboard, control.read_scoreboard
    return SassOperation(
        kind,
        max(1, control.stall),
        control.waits,
        -1 if write is None else write,
        -1 if read is None else read,
        pipe_number(pipe),
        float(interval),
        float(latency),
        each.line,
        count,
        board,
        ends,
        shared_bytes,
        control.switches,
        kind in (GLOBAL_LOAD, COPY_IN) and not _PAST_L1 & {opcode, *each.modifiers},
        access_bytes(each) * WARP // PASS_BYTES if opcode in ("LDS", "STS") else 0,
        registers=_registers(each),
        read_only=bool(_READ_ONLY & set(each.modifiers)),
    )


def pipe_number(pipe: Pipe) -> int:
    """The number of a pipe of a sub-partition, -1 for none."""
    return _NUMBERS.get(pipe, -1)


def pipe_cycles(pipe: Pipe, device: Device) -> float:
    """Cycles of a pipe from one warp-instruction to the next, but for the tensor pipe's."""
    intervals = {
        Pipe.FMA: device.fma_interval,
        Pipe.ALU: device.alu_interval,
        Pipe.HALF: device.f16x2_interval,
        Pipe.DOUBLE: device.f64_interval,
        Pipe.MUFU: device.mufu_interval,
    }
    return float(intervals.get(pipe, 1.0))


def matrix_cycles(shape: Shape | None, wide: int, device: Device) -> float:
    """Cycles of the tensor pipe that a warp's product takes; `wide` times as fast as one of f16."""
    m, n, k = shape or (16, 8, 16)
    return max(1.0, device.mma_16816_interval * m * n * k / (16 * 8 * 16) / wide)


def warpgroup_cycles(shape: Shape | None, read_bytes: int, device: Device) -> float:
    """Cycles of a sub-partition's tensor core, or those in which its operands are read, if these are more.

    Of f16 it multiplies 16 × n × 16, of 8 bits twice as much along K.
    """
    m, n, k = shape or _WIDEST
    rate = device.wgmma_macs * {32: 2, 8: 0.5}.get(k, 1)
    return max(m / WARPGROUP_WARPS * n * k / rate, read_bytes / device.shared_bytes_per_cycle)


def warpgroup_bytes(shape: Shape | None, has_a_in_registers: bool) -> int:
    """What a warpgroup's product reads of shared memory: rows of B, 32 bytes each, and of A where it is there, too."""
    m, n, _ = shape or _WIDEST
    return 32 * (n if has_a_in_registers else m + n)


def _interval(each: SassInstruction, pipe: Pipe, device: Device) -> float:
    if pipe is Pipe.TENSOR:
        return matrix_cycles(tensor_shape(each), 1 if each.opcode == "HMMA" else 2, device)
    return pipe_cycles(pipe, device)


def _has_a_in_registers(each: SassInstruction) -> bool:
    operands = [text.strip() for text in each.operands.split(",")]
    return len(operands) > 1 and operands[1].startswith("R")


def _registers(each: SassInstruction) -> int:
    """Registers of a lane that an access of global or local memory moves: one for 32 bits or less."""
    if each.opcode == "LDC" or each.opcode not in _LOADS | _STORES:
        return 0
    return max(1, access_bytes(each) // WORD_BYTES)


def _groups_left(operands: str) -> int:
    """How many groups of products may be under way behind `WARPGROUP.DEPBAR.LE gsb0, 0x1`."""
    found = re.search(r"0x([0-9a-f]+)", operands)
    return int(found[1], 16) if found else 0
