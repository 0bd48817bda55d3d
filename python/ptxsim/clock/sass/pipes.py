"""Where a SASS instruction runs, and how long until its result can be used.

In: a `SassInstruction`. Out: its `Pipe`, the shape of a tensor instruction, its `Rank` as an anchor, its latency.
Sources: throughputs of the CUDA programming guide, table "Throughput of Native Arithmetic Instructions" (which
operations share a unit); latencies are those that ptxas 13.0 leaves between an instruction and its first use.
"""

import re
from enum import IntEnum, StrEnum

from ptxsim.clock.sass.listing import SassInstruction


class Pipe(StrEnum):
    """A unit of an SM that instructions are issued to."""

    FMA = "fma"
    ALU = "alu"
    HALF = "half"
    DOUBLE = "double"
    MUFU = "mufu"
    LSU = "lsu"
    TENSOR = "tensor"
    TMA = "tma"
    UNIFORM = "uniform"
    BRANCH = "branch"
    ADDRESS = "adu"
    NONE = "none"


_OPCODES = {
    Pipe.FMA: "FFMA FADD FMUL FFMA32I FADD32I FMUL32I IMAD IMUL FSWZADD",
    Pipe.HALF: "HFMA2 HADD2 HMUL2 HFMA2_32I HADD2_32I HMUL2_32I HADD2_F32 HMNMX2 HSET2 HSETP2",
    Pipe.DOUBLE: "DFMA DADD DMUL DSETP DMNMX",
    Pipe.MUFU: "MUFU POPC FLO BREV I2F F2I F2F FRND I2I",
    Pipe.LSU: "LDG LD LDL LDS LDSM STG ST STL STS STSM LDGSTS ATOM ATOMS ATOMG RED REDS REDG SHFL MATCH LDGDEPBAR CCTL "
    "MEMBAR ERRBAR SYNCS ARRIVES LEPC QSPC LDGMC REDAS STAS",
    Pipe.TENSOR: "HMMA IMMA BMMA DMMA QMMA HGMMA IGMMA QGMMA BGMMA MOVM",
    Pipe.TMA: "UTMALDG UTMASTG UTMAREDG UTMAPF UTMACCTL UTMACMDFLUSH UBLKCP UBLKPF UBLKRED",
    Pipe.BRANCH: "BRA BRX JMP JMX EXIT RET CALL BSSY BSYNC BREAK WARPSYNC BMOV YIELD KILL BPT NANOSLEEP RPCMOV ELECT",
    Pipe.ADDRESS: "S2R S2UR LDC BAR REDUX B2R R2B AL2P VOTE_VTG UCGABAR_ARV UCGABAR_WAIT UCGABAR_GET UCGABAR_SET",
    Pipe.NONE: "NOP DEPBAR WARPGROUP WARPGROUPSET USETMAXREG FENCE ACQBULK PREEXIT CGAERRBAR ENDCOLLECTIVE",
}
_PIPE = {opcode: pipe for pipe, text in _OPCODES.items() for opcode in text.split()}


def pipe_of(each: SassInstruction) -> Pipe:
    """The pipe of an instruction; what is known as no other is the ALU's, or uniform if its name says so."""
    known = _PIPE.get(each.opcode)
    if known is not None:
        return known
    return Pipe.UNIFORM if each.opcode.startswith(("U", "R2UR", "VOTEU")) else Pipe.ALU


#: HMMA writes its shape together: 16816 is m16 n8 k16.
_SHAPES = {"884": (8, 8, 4), "1684": (16, 8, 4), "1688": (16, 8, 8), "16816": (16, 8, 16), "16832": (16, 8, 32)}
_SHAPES |= {
    "16864": (16, 8, 64),
    "168128": (16, 8, 128),
    "168256": (16, 8, 256),
    "8816": (8, 8, 16),
    "8832": (8, 8, 32),
}


def tensor_shape(each: SassInstruction) -> tuple[int, int, int] | None:
    """The (m, n, k) of a tensor instruction, None for another one or a shape that is not known."""
    if pipe_of(each) is not Pipe.TENSOR:
        return None
    for word in each.modifiers:
        if found := re.fullmatch(r"(\d+)[xX](\d+)[xX](\d+)", word):
            return int(found[1]), int(found[2]), int(found[3])
        if word in _SHAPES:
            return _SHAPES[word]
    return None


#: Bytes of a lane by the modifier that says so; a word where none does.
_WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
WORD_BYTES = 4


def access_bytes(each: SassInstruction) -> int:
    """The bytes of a lane that a load or store moves: 4 unless its name says otherwise."""
    return next((_WIDTHS[word] for word in each.modifiers if word in _WIDTHS), WORD_BYTES)


_RANKS = {
    "SINGLE": "HGMMA IGMMA QGMMA BGMMA HMMA IMMA BMMA DMMA UTMALDG UTMASTG UTMAREDG UBLKCP UBLKRED SYNCS LDSM STSM BAR "
    "LDGSTS LDGDEPBAR ATOM ATOMS ATOMG RED REDG REDS MUFU SHFL",
    "MERGED": "LDG STG LD ST LDS STS",
    "ARITHMETIC": "FFMA FADD FMUL FMNMX HFMA2 HADD2 HMUL2 DFMA DADD DMUL",
    "JUMP": "BRA EXIT RET BRX CALL",
}


class Rank(IntEnum):
    """How much an instruction tells of where its PTX line is, and how often."""

    #: Anything: moved, joined and doubled at will.
    NONE = 0
    #: A branch: stays with its run, once for all its copies.
    JUMP = 1
    #: Floating-point arithmetic: nearly always one for each execution of its line.
    ARITHMETIC = 2
    #: A load or store: stays in its place; may be merged over neighbouring addresses, also of several copies.
    MERGED = 3
    #: Once for each execution of its line.
    SINGLE = 4


_RANK = {opcode: Rank[name] for name, text in _RANKS.items() for opcode in text.split()}


def rank_of(each: SassInstruction) -> Rank:
    """The rank of an instruction as an anchor of its PTX line; a move by `HFMA2 -RZ, RZ` is none."""
    return Rank.NONE if "-RZ, RZ" in each.operands else _RANK.get(each.opcode, Rank.NONE)


#: Cycles from the issue of an instruction to that of a use by another pipe; within a pipe it is often 1 less.
_LATENCY = 5
_LATENCIES = {
    **dict.fromkeys(("FFMA", "FADD", "FMUL", "FMNMX", "LOP3", "SHF", "PRMT", "SEL", "IADD3", "LEA", "MOV", "IMAD"), 4),
    **dict.fromkeys(("HFMA2", "HMUL2"), 6),
    **dict.fromkeys(("DFMA", "DADD", "DMUL"), 8),  # on sm_90; 6 and a scoreboard on sm_80
    **dict.fromkeys(("ISETP", "FSETP", "PLOP3"), 13),  # as a guard; 4 as an operand
    **dict.fromkeys(("HMMA", "IMMA"), 24),  # 11 + 11 + 2 of stalls; Luo et al., table VII: 24.6 on A100, 24.1 on H100
    **dict.fromkeys(("ULDC", "UMOV"), 2),
    "R2UR": 13,
}
#: Of the uniform pipe into another one; 4 within it.
_UNIFORM_LATENCY = 6
_NO_RESULT = frozenset({Pipe.NONE, Pipe.BRANCH, Pipe.TMA, Pipe.LSU, Pipe.ADDRESS})


def fixed_latency(each: SassInstruction) -> int | None:
    """Cycles from issue to a dependent use; None where a scoreboard tells, or nothing is computed."""
    pipe = pipe_of(each)
    if each.control.write_scoreboard is not None or pipe in _NO_RESULT or each.opcode.endswith("GMMA"):
        return None  # a product of a warpgroup is told by WARPGROUP.DEPBAR
    if each.opcode == "IMAD" and {"HI", "WIDE"} & set(each.modifiers):
        return 6 if "HI" in each.modifiers else 5
    if each.opcode == "HFMA2" and "MMA" in each.modifiers:
        return 10
    return _LATENCIES.get(each.opcode, _UNIFORM_LATENCY if pipe is Pipe.UNIFORM else _LATENCY)
