"""Which target an instruction, a special register or a directive needs: the one table, and the check of a module.

In: a module. Out: PtxError with the line for what the module's `.target` does not have, as an assembler gives it.
Source: PTX ISA, the "Target ISA Notes" of each instruction; `ptxas -arch` where the notes are silent.
"""

import re
from collections.abc import Iterator
from functools import cache

from ptxsim.errors import PtxError
from ptxsim.parsing.syntax import Block, Function, Instruction, ModuleTree, Special
from ptxsim.parsing.target import Target

#: What clusters of more than one CTA need.
CLUSTERS = "sm_90"


#: Target → patterns of what needs it, as an instruction is written: opcode and modifiers. The first that matches holds.
_INSTRUCTIONS = {
    "sm_100a": (r"redux\..*\.f32",),
    "sm_100": (r"\w+\..*\bf32x2", r"(ld|st)\b.*\.(v8\.[bfsu]32|v4\.[bfsu]64)"),
    "sm_90a": (r"wgmma\..*", r"setmaxnreg\..*", r"tensormap\.replace\..*"),
    "sm_90": (
        r"cp(\.reduce)?\.async\.bulk.*|st\.async.*|red\.async.*|multimem.*|tensormap.*|prefetch.*\.tensormap",
        r"mapa.*|getctarank.*|barrier\.cluster.*|elect.*|griddepcontrol.*|stmatrix.*",
        r"mbarrier\.(try_wait|expect_tx|complete_tx|arrive\.expect_tx|arrive_drop\.expect_tx).*|mbarrier\..*\.relaxed.*",
        r"fence\.(proxy\.(async|tensormap)|mbarrier_init|\w+\.sync_restrict).*",
        r".*(\.|::)cluster\b.*",
        r"(add|sub|mul|tanh|ex2|set|setp|atom|red)\..*\bbf16(x2)?\b.*|cvt\.rn?[zn]\.tf32.*|fma\..*\boob\b.*",
        r"cvt\.(\w+\.)*(bf16\.(?!f32)\w+|(?!f32)[fsu]\d+\.bf16)",
        r"(atom|red)\..*\.(v[248]|b128)\b.*",
        r"(add|min|max)\..*\b[su]16x2\b.*|(min|max)\..*\bs32\.relu|(min|max)\.relu\.s32",
        r"mma\..*\.m16n8k(4|8|16)\..*\.f64",
    ),
    "sm_89": (r"(cvt|mma)\..*\be[45]m[32](x2)?\b.*",),
    "sm_86": (r"(min|max)\..*\bxorsign\b.*",),
    "sm_80": (
        r"cp\.async.*|mbarrier.*|redux.*|createpolicy.*|applypriority.*|discard.*",
        r".*\b(bf16(x2)?|tf32|relu|cache_hint|256B)\b.*|prefetch.*::evict.*|cvt\..*\bf16x2\.f32",
        r"(min|max)\..*\bf16(x2)?\b.*|(min|max)\..*\bNaN\b.*",
        r"mma\..*\.(f64|m16n8k(16|32|64|128|256)\..*)|wmma\..*\bf64\b.*|wmma\.mma\.and\..*",
    ),
}
#: Arrivals that complete a phase; with a count, their third operand, they need what clusters do.
_COMPLETING = re.compile(r"mbarrier\.arrive(_drop)?(?!\.noComplete).*")
_COUNTING_OPERANDS = 3
_REGISTERS = {
    "sm_90": re.compile(r"%(cluster|nclusterid|is_explicit_cluster|aggr_smem).*"),
    "sm_80": re.compile(r"%reserved_smem.*"),
}
_DIRECTIVES = {"reqnctapercluster": CLUSTERS, "explicitcluster": CLUSTERS, "maxclusterrank": CLUSTERS}


def check_target(module: ModuleTree) -> None:
    """Check that the module's target has everything that its functions use.

    Raises:
        PtxError: at the first instruction or function that needs another target.
    """
    target = Target.of(module.target[0])
    for function in module.functions.values():
        for directive in function.directives:
            _require(f".{directive}", _DIRECTIVES.get(directive), target, function.line, 1)
        for instruction in _instructions(function):
            name = ".".join((instruction.opcode, *instruction.modifiers))
            _require(f"'{name}'", _needed(name), target, instruction.line, instruction.column)
            _check_operands(instruction, name, target)


def _check_operands(instruction: Instruction, name: str, target: Target) -> None:
    line, column = instruction.line, instruction.column
    if len(instruction.operands) == _COUNTING_OPERANDS and _COMPLETING.fullmatch(name):
        _require(f"'{name}' with a count and without .noComplete", CLUSTERS, target, line, column)
    for operand in instruction.operands:
        if isinstance(operand, Special):
            needed = next((each for each, names in _REGISTERS.items() if names.fullmatch(operand.name)), None)
            _require(f"'{operand.name}'", needed, target, line, column)


def _require(what: str, needed: str | None, target: Target, line: int, column: int) -> None:
    if needed is not None and not target.has(needed):
        more = "" if needed[-1] in "af" else " or higher"
        raise PtxError(f"{what} needs .target {needed}{more}; the module is for {target}", line, column)


@cache
def _needed(name: str) -> str | None:
    """The target that an instruction needs, None where all have it."""
    for needed, patterns in _INSTRUCTIONS.items():
        if any(re.fullmatch(pattern, name) for pattern in patterns):
            return needed
    return None


def _instructions(function: Function) -> Iterator[Instruction]:
    blocks: list[Block] = [function.body] if function.body else []
    while blocks:
        for statement in blocks.pop(0).statements:
            if isinstance(statement, Instruction):
                yield statement
            elif isinstance(statement, Block):
                blocks.append(statement)
