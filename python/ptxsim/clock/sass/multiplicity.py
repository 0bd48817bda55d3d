"""How many SASS instructions one execution of a matrix instruction of the PTX is.

In: the runs of the PTX, a `SassFunction` with the lines of its instructions. Out: for each line of `mma` or `wmma` a
number. A product m × n × k is made of narrower ones, the load or store of a fragment of accesses that each move what a
warp can: the work of the one over that of the other. Sources: PTX ISA §9.7.14.4 (`wmma`: shapes, fragments),
§9.7.14.5.15 (`ldmatrix`: 8 × 8 elements of 16 bits).
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from math import prod

from ptxsim.clock.sass.listing import SassFunction, SassInstruction
from ptxsim.clock.sass.pipes import Rank, access_bytes, rank_of, tensor_shape
from ptxsim.clock.sass.straight_runs import PtxRuns
from ptxsim.machine.warp import WARP
from ptxsim.parsing.syntax import Instruction

_ELEMENT_BITS = {
    **dict.fromkeys(("f64",), 64),
    **dict.fromkeys(("f32", "tf32", "s32"), 32),
    **dict.fromkeys(("f16", "bf16"), 16),
    **dict.fromkeys(("s8", "u8", "e4m3", "e5m2"), 8),
    **dict.fromkeys(("s4", "u4"), 4),
    "b1": 1,
}
_MATRIX_BYTES = 8 * 8 * 2


def anchors_of_executions(runs: PtxRuns, function: SassFunction, lines: Sequence[int]) -> dict[int, int]:
    """How many anchors one execution of each line of `mma` or `wmma` is; 0 where a `wmma`'s leave that open.

    `lines` has the line of each instruction, as `anchor_lines` gives them.
    """
    anchors: dict[int, list[SassInstruction]] = defaultdict(list)
    for line, each in zip(lines, function.instructions, strict=True):
        if line and rank_of(each) >= Rank.MERGED:
            anchors[line].append(each)
    found: dict[int, int] = {}
    for line, here in anchors.items():
        own = next((each for each in runs.on_line[line] if each.opcode in ("mma", "wmma")), None)
        if own is not None:
            found[line] = _count(own, here)
    return found


def _count(each: Instruction, anchors: Collection[SassInstruction]) -> int:
    work, of_sass = _work_of_ptx(each), {_work_of_sass(anchor) for anchor in anchors}
    single = of_sass.pop()
    if of_sass or not single or not work or work % single:
        return int(each.opcode == "mma")
    return work // single


def _work_of_ptx(each: Instruction) -> int:
    """The multiply-adds of a product, or the bits of a fragment; 0 where they are not known."""
    found = next((shape for word in each.modifiers if (shape := re.fullmatch(r"m(\d+)n(\d+)k(\d+)", word))), None)
    if found is None:
        return 0
    m, n, k = map(int, found.groups())
    if each.opcode == "mma" or each.modifiers[0] == "mma":
        return m * n * k
    elements = {"a": m * k, "b": k * n}.get(each.modifiers[1], m * n)
    return elements * _ELEMENT_BITS.get(each.modifiers[-1], 0)


def _work_of_sass(each: SassInstruction) -> int:
    """The same of an instruction of the SASS; 0 where it is not known."""
    shape = tensor_shape(each)
    if shape is not None:
        return prod(shape)
    if each.opcode in ("LDSM", "STSM"):
        count = next((int(word) for word in reversed(each.modifiers) if word in ("1", "2", "4")), 1)
        return 8 * _MATRIX_BYTES * count
    return 8 * WARP * access_bytes(each)
