"""What lines cost where there is no ptxas: a weight for each class of instructions, with a lower and an upper bound.

In: the runs of a kernel. Out: a `KernelCost` that is marked as an estimate. The weights are means of what ptxas 13.5
made of eleven kernels for sm_80 and sm_90a (wgmma with TMA, mma.sync with cp.async, FFMA, softmax; 6063 instructions of
PTX gave 0.95 slots and 2.1 stall cycles each). Lower bound: only what ptxas neither joins nor drops is there; upper
bound: two instructions for each of the PTX, or as many as the worst of its class had.
"""

import re
from collections import Counter
from dataclasses import dataclass

from ptxsim.clock.sass.line_costs import KernelCost, LineCost, RunCost, TensorWork
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.clock.sass.straight_runs import PtxRuns
from ptxsim.parsing.syntax import Instruction
from ptxsim.parsing.types import TYPE_BITS


@dataclass(frozen=True)
class ClassWeight:
    """A class of instructions: the least, the mean and the most slots, stall cycles of a slot, its pipe, its latency.

    `latency_cycles` is None where the result comes through a scoreboard, or there is none.
    """

    least: float
    slots: float
    most: float
    slot_cycles: float
    pipe: Pipe
    latency_cycles: int | None = None
    scoreboarded: bool = False


_FLOAT = ClassWeight(1, 1, 2, 1.5, Pipe.FMA, 4)
_PACKED_FLOAT = ClassWeight(1, 1, 2, 1.5, Pipe.HALF, 6)
_FLOAT_OF_INTEGER = ClassWeight(1, 1, 2, 2, Pipe.MUFU, None, True)
_INTEGER = ClassWeight(0, 0.8, 2, 2, Pipe.ALU, 5)
_WIDE_INTEGER = ClassWeight(0, 1.6, 4, 1.8, Pipe.ALU, 5)
_PRODUCT = ClassWeight(0, 1, 2, 2, Pipe.FMA, 5)
_WIDE_PRODUCT = ClassWeight(0, 2.9, 5, 1.7, Pipe.FMA, 5)
_MOVE = ClassWeight(0, 0.3, 1, 1.5, Pipe.ALU, 5)
_ADDRESS = ClassWeight(0, 0.2, 2, 1.5, Pipe.ALU, 5)
_SPECIAL = ClassWeight(1, 2, 5, 4, Pipe.MUFU, None, True)
_LOAD = ClassWeight(0.25, 1, 2, 2, Pipe.LSU, None, True)
_STORE = ClassWeight(0.25, 1, 2, 2.5, Pipe.LSU)
_COPY = ClassWeight(1, 1.2, 4, 2.6, Pipe.LSU)
_BARRIER = ClassWeight(1, 1, 2, 4.5, Pipe.ADDRESS)
_JUMP = ClassWeight(0, 1, 2, 5, Pipe.BRANCH)
_NOTHING = ClassWeight(0, 0, 1, 1, Pipe.NONE)

_CLASSES = {
    "add sub mul mad fma min max neg abs": _FLOAT,  # of floating-point types
    "shfl": ClassWeight(1, 1, 2, 1.8, Pipe.LSU, None, True),
    "redux vote match activemask elect": ClassWeight(1, 1, 2, 2, Pipe.ADDRESS, None, True),
    "ex2 lg2 rcp sqrt rsqrt sin cos tanh": _SPECIAL,
    "div rem": ClassWeight(1, 10, 60, 4, Pipe.ALU, 5),
    "popc clz bfind brev": ClassWeight(1, 1, 2, 2, Pipe.MUFU, None, True),
    "cvt": ClassWeight(0, 0.6, 2, 1.5, Pipe.ALU, 5),
    "cvta isspacep": _ADDRESS,
    "mov": _MOVE,
    "ld ldu": _LOAD,
    "st": _STORE,
    "ldmatrix": ClassWeight(1, 1, 1, 3.6, Pipe.LSU, None, True),
    "stmatrix": ClassWeight(1, 1, 1, 2.5, Pipe.LSU),
    "movmatrix": ClassWeight(1, 1, 1, 3, Pipe.TENSOR, None, True),
    "atom": ClassWeight(1, 1, 3, 2, Pipe.LSU, None, True),
    "red": ClassWeight(1, 1, 3, 2, Pipe.LSU),
    "bar barrier": _BARRIER,
    "mbarrier": ClassWeight(1, 2.1, 8, 2.1, Pipe.LSU, None, True),
    "membar fence": ClassWeight(0, 2, 4, 3, Pipe.LSU),
    "bra brx ret exit trap call": _JUMP,
    "setmaxnreg griddepcontrol nanosleep prefetch applypriority discard": _NOTHING,
    "setp set testp": ClassWeight(0, 1.1, 3, 3, Pipe.ALU, 13),
}
_BY_OPCODE = {opcode: weight for opcodes, weight in _CLASSES.items() for opcode in opcodes.split()}
_FLOATS = frozenset({"f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "tf32"})
#: Cycles from one HMMA of m16 n8 k16 to the next of the same warp, as the stalls of ptxas have it.
_PRODUCT_CYCLES = {"sm_8": 8.0, "sm_9": 6.0}


def estimate_cost(runs: PtxRuns, arch: str, entry: str, why: str) -> KernelCost:
    """The costs of lines by the classes of their instructions; `why` it is an estimate."""
    lines: dict[int, LineCost] = {}
    for run in runs.runs:
        for line in run.lines:
            lines[line] = _line(line, runs.on_line[line], arch)
    costs = tuple(RunCost(run.number, run.lines, 1, ()) for run in runs.runs)
    return KernelCost(
        entry=entry,
        arch=arch,
        ptxas_version="",
        instructions=(),
        lines=lines,
        hot=lines,
        runs=costs,
        uncharged=(),
        moved=0,
        resources=None,
        estimate=why,
        run_of=runs.run_of,
    )


def _line(line: int, here: tuple[Instruction, ...], arch: str) -> LineCost:
    weights = [class_weight(each, arch) for each in here]
    pipes: Counter[Pipe] = Counter()
    for weight in weights:
        pipes[weight.pipe] += weight.slots  # pyright: ignore[reportArgumentType]  # slots are parts of one
    last = weights[-1]
    work = [each for each, weight in zip(here, weights, strict=True) if weight.pipe is Pipe.TENSOR]
    return LineCost(
        line=line,
        copies=1,
        slots_total=sum(each.slots for each in weights),
        stall_total=sum(each.slots * each.slot_cycles for each in weights),
        pipe_totals={pipe: slots for pipe, slots in sorted(pipes.items()) if slots},
        tensor=tuple(TensorWork(".".join((each.opcode, *each.modifiers)), product_shape(each), 1) for each in work),
        scoreboarded=any(each.scoreboarded for each in weights),
        latency_cycles=last.latency_cycles,
        bounds=(sum(each.least for each in weights), sum(each.most for each in weights)),
    )


def product_shape(each: Instruction) -> tuple[int, int, int] | None:
    """The (m, n, k) of a matrix product of the PTX; None for what is none."""
    for word in each.modifiers:
        if found := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", word):
            return int(found[1]), int(found[2]), int(found[3])
    return None


def class_weight(each: Instruction, arch: str) -> ClassWeight:
    """The weight of an instruction of the PTX, for an architecture such as "sm_90a"."""
    words = each.modifiers
    if each.opcode == "wmma" and words[:1] in (("load",), ("store",)):
        return ClassWeight(1, 9, 16, 2.8, Pipe.LSU, None, words[0] == "load")
    if each.opcode in ("mma", "wmma"):
        m, n, k = product_shape(each) or (16, 8, 16)
        products = max(1, m * n // 128)  # a 16x16 tile of wmma is two HMMAs of 16x8
        cycles = _PRODUCT_CYCLES.get(arch[:4], 6.0) * max(0.5, k / 16)
        return ClassWeight(products, products, 2 + 3 * products, cycles, Pipe.TENSOR, 24)
    if each.opcode == "wgmma":
        return ClassWeight(1, 2.2, 4, 1.6, Pipe.TENSOR if words[:1] == ("mma_async",) else Pipe.NONE)
    if each.opcode == "cp":
        return ClassWeight(1, 12, 13, 4.3, Pipe.TMA) if "bulk" in words and "tensor" in words else _COPY
    if each.opcode in ("ld", "ldu") and "param" in words:
        return ClassWeight(0, 0.4, 2, 2, Pipe.ADDRESS, 5)
    if each.opcode in ("add", "sub", "mul", "mad", "fma", "min", "max", "neg", "abs"):
        types = set(words)
        if "f64" in types:
            return ClassWeight(1, 1, 2, 4, Pipe.DOUBLE, 8)
        if types & _FLOATS:
            return _FLOAT if types & {"f32", "tf32"} else _PACKED_FLOAT
        wide = bool(types & {"s64", "u64", "b64"})
        if each.opcode in ("mul", "mad"):
            return _WIDE_PRODUCT if wide and "lo" in types else _PRODUCT
        return _WIDE_INTEGER if wide else _INTEGER
    if each.opcode == "cvt" and len({bool(re.fullmatch(r"[su]\d+", word)) for word in words if word in TYPE_BITS}) > 1:
        return _FLOAT_OF_INTEGER
    return _BY_OPCODE.get(each.opcode, _INTEGER)
