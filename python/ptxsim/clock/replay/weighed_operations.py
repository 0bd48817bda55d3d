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
    PLAIN,
    PRODUCT,
    SHARED_ACCESS,
    SYNC,
    VARIABLE,
    WARPGROUP_WARPS,
    matrix_cycles,
    pipe_cycles,
    warpgroup_bytes,
    warpgroup_cycles,
)
from ptxsim.clock.sass.class_weights import ClassWeight, product_shape
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.machine.warp import WARP
from ptxsim.parsing.syntax import Immediate, Instruction, Vector

_BYTE_TYPES = frozenset({"s8", "u8", "e4m3", "e5m2"})
_FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2}
_FLOAT_LANES = {"f16": 1, "bf16": 1, "f32": 1, "f64": 1, "f16x2": 2, "bf16x2": 2, "f32x2": 2}
#: Kinds of memory instructions by space, where they do not go beyond the SM.
_WITHIN_SM = {"shared": SHARED_ACCESS, "param": PLAIN}


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
            return _WITHIN_SM.get(space, GLOBAL_LOAD)
        case "st" | "red":
            return BULK if "async" in words else _WITHIN_SM.get(space, GLOBAL_STORE)
        case "atom":
            return _WITHIN_SM.get(space, GLOBAL_LOAD)
        case "wmma" if words[:1] in (("load",), ("store",)):
            return _WITHIN_SM.get(space, GLOBAL_LOAD if words[0] == "load" else GLOBAL_STORE)
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


def interval_on(each: Instruction, pipe: Pipe, products: int, device: Device) -> float:
    """Cycles of its pipe that one operation of an instruction takes; a product is made of `products`."""
    if each.opcode == "wgmma":
        return warpgroup_cycles(product_shape(each), warpgroup_operand_bytes(each), device)
    if pipe is Pipe.TENSOR:
        return matrix_cycles(product_shape(each), products * (2 if _BYTE_TYPES & set(each.modifiers) else 1), device)
    return pipe_cycles(pipe, device)


def warpgroup_operand_bytes(each: Instruction) -> int:
    """What a `wgmma.mma_async` reads of shared memory."""
    return warpgroup_bytes(product_shape(each), len(each.operands) > 1 and isinstance(each.operands[1], Vector))


def flops_on(each: Instruction) -> tuple[float, float]:
    """The FLOPs of a warp's instruction, with all lanes: on the tensor pipes, and on the others."""
    words = each.modifiers
    if each.opcode in ("mma", "wgmma") or (each.opcode == "wmma" and words[:1] == ("mma",)):
        m, n, k = product_shape(each) or (0, 0, 0)
        return 2.0 * m * n * k / (WARPGROUP_WARPS if each.opcode == "wgmma" else 1), 0.0
    lanes = max((_FLOAT_LANES.get(word, 0) for word in words), default=0)
    return 0.0, float(WARP * lanes * _FLOPS.get(each.opcode, 0))
