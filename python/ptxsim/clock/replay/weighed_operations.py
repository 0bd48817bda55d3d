"""What the replay does for an instruction of the PTX where there is no SASS: its kind, and its class' weight.

In: an instruction, a `Device`, a `ClassWeight`. Out: the kind of its operation, what that takes of its pipe, its FLOPs.
"""

from ptxsim.clock.devices import Device
from ptxsim.clock.replay.operations import (
    BOARD_WAIT,
    BULK,
    COMMIT,
    COPY_IN,
    GLOBAL_LOAD,
    GLOBAL_STORE,
    GROUP_WAIT,
    PIPES,
    PLAIN,
    PRODUCT,
    SHARED_ACCESS,
    SYNC,
    VARIABLE,
)
from ptxsim.clock.sass.class_weights import ClassWeight, product_shape
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.machine.warp import WARP
from ptxsim.parsing.syntax import Immediate, Instruction, Vector

_NUMBERS = {pipe: number for number, pipe in enumerate(PIPES)}
#: Warps that execute a warpgroup's product together.
WARPGROUP_WARPS = 4
_BYTE_TYPES = frozenset({"s8", "u8", "e4m3", "e5m2"})
_FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}
_FLOAT_LANES = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2, "f32x2": 2}
#: Kinds of memory instructions by space.
_LOADS = {"shared": SHARED_ACCESS, "param": PLAIN}
_STORES = {"shared": SHARED_ACCESS, "param": PLAIN}


def space_of(each: Instruction) -> str:
    """The state space that an instruction accesses: "generic" where it names none."""
    spaces = ("global", "shared", "local", "param", "const")
    words = (word.partition("::")[0] for word in each.modifiers)
    return next((word for word in words if word in spaces), "generic")


def kind_of(each: Instruction, weight: ClassWeight) -> int:
    """The kind of operation that an instruction is."""
    words, space = each.modifiers, space_of(each)
    match each.opcode:
        case "wgmma":
            return {"mma_async": PRODUCT, "wait_group": GROUP_WAIT}.get(words[0], PLAIN)
        case "cp":
            return _copy_kind(words)
        case "mbarrier" | "bar" | "barrier":
            return PLAIN if words[:1] == ("warp",) else SYNC
        case "ldmatrix" | "stmatrix" | "shfl":
            return SHARED_ACCESS
        case "ld" | "ldu":
            return _LOADS.get(space, GLOBAL_LOAD)
        case "st" | "red":
            return BULK if "async" in words else _STORES.get(space, GLOBAL_STORE)
        case "atom":
            return _LOADS.get(space, GLOBAL_LOAD)
        case "wmma" if words[:1] in (("load",), ("store",)):
            return (_LOADS if words[0] == "load" else _STORES).get(
                space, GLOBAL_LOAD if words[0] == "load" else GLOBAL_STORE
            )
        case _:
            return VARIABLE if weight.scoreboarded else PLAIN


def _copy_kind(words: tuple[str, ...]) -> int:
    """The kind of a `cp.async` or `cp.async.bulk`."""
    if "bulk" in words:
        return PLAIN if {"commit_group", "wait_group"} & set(words) else BULK
    if "mbarrier" in words:
        return SYNC
    if "commit_group" in words:
        return COMMIT
    return BOARD_WAIT if {"wait_group", "wait_all"} & set(words) else COPY_IN


def groups_left(each: Instruction) -> int:
    """How many groups a wait leaves open: `wgmma.wait_group.sync.aligned 1`; 0 where it names none."""
    numbers = [int(operand.value) for operand in each.operands if isinstance(operand, Immediate)]
    return numbers[0] if numbers else 0


def latency_on(each: Instruction, kind: int, device: Device) -> float:
    """Cycles until the result is there, where neither a fixed latency nor the way through memory decides."""
    if kind == SHARED_ACCESS:
        latencies = {"shfl": device.shuffle_latency, "ldmatrix": device.ldmatrix_latency}
        return float(latencies.get(each.opcode, device.shared_latency))
    return float(device.mufu_latency) if kind == VARIABLE else 0.0


def pipe_number(pipe: Pipe) -> int:
    """The number of a pipe of a sub-partition, -1 for none."""
    return _NUMBERS.get(pipe, -1)


def interval_on(each: Instruction, pipe: Pipe, products: int, device: Device) -> float:
    """Cycles of its pipe that one operation of an instruction takes; a product is made of `products`."""
    if each.opcode == "wgmma":
        return _warpgroup_cycles(each, device)
    if pipe is Pipe.TENSOR:
        m, n, k = product_shape(each) or (16, 8, 16)
        wide = 2 if _BYTE_TYPES & set(each.modifiers) else 1
        return max(1.0, device.mma_16816_interval * m * n * k / (16 * 8 * 16) / wide / products)
    intervals = {
        Pipe.FMA: device.fma_interval,
        Pipe.ALU: device.alu_interval,
        Pipe.HALF: device.f16x2_interval,
        Pipe.DOUBLE: device.f64_interval,
        Pipe.MUFU: device.mufu_interval,
    }
    return float(intervals.get(pipe, 1.0))


def _warpgroup_cycles(each: Instruction, device: Device) -> float:
    """Cycles of a sub-partition's tensor core, or those in which its operands are read, if these are more."""
    m, n, k = product_shape(each) or (64, 256, 16)
    rate = device.wgmma_macs * {32: 2, 8: 0.5}.get(k, 1)
    return max(m / WARPGROUP_WARPS * n * k / rate, warpgroup_operand_bytes(each) / device.shared_bytes_per_cycle)


def warpgroup_operand_bytes(each: Instruction) -> int:
    """What a `wgmma.mma_async` reads of shared memory: rows of B, 32 bytes each, and of A if no registers hold it."""
    m, n, _ = product_shape(each) or (64, 256, 16)
    in_registers = len(each.operands) > 1 and isinstance(each.operands[1], Vector)
    return 32 * (n if in_registers else m + n)


def flops_on(each: Instruction) -> tuple[float, float]:
    """The FLOPs of a warp's instruction, with all lanes: on the tensor pipes, and on the others."""
    words = each.modifiers
    if each.opcode in ("mma", "wgmma") or (each.opcode == "wmma" and words[:1] == ("mma",)):
        m, n, k = product_shape(each) or (0, 0, 0)
        return 2.0 * m * n * k / (WARPGROUP_WARPS if each.opcode == "wgmma" else 1), 0.0
    lanes = max((_FLOAT_LANES.get(word, 0) for word in words), default=0)
    return 0.0, float(WARP * lanes * _FLOPS.get(each.opcode, 0))
