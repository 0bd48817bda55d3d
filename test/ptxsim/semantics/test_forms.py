"""Which instructions are known: what the ISA has, and nothing else."""

import itertools
import warnings

import numpy as np
import pytest

from ptxsim.semantics import UnknownInstruction, bits, extended, integer, logic, move, operation, packed
from ptxsim_cases.semantics_samples import array, split, width

TYPES = ("pred", "b16", "b32", "b64", "b128", *(f"{s}{n}" for s in "us" for n in (16, 32, 64)), "u16x2", "s16x2")
FLAGS = ("", "sat", "cc", "relu", "shiftamt", "clamp", "wrap", "hi", "lo", "wide")
MODULES = (integer, extended, packed, bits, logic, move)
UNKNOWN = """
add add.sat.u32 add.u8 add.b32 mul.u32 mul.wide.u64 mad.lo.sat.s32 mad.wide.cc.u32 abs.u32 min.relu.u32 popc.u32
bfe.b32 shl.s32 shr.clamp.b32 shf.b32 shf.l.b32 lop3.xor.b32 lop3.b64 setp.lt.b32 setp.lo.s32 setp.num.s32
setp.eq.nand.s32 set.eq.u64.u32 selp.pred slct.ftz.u32.s32 slct.u32.u32 prmt.b64 prmt.f4e.b32 mov.u8 mov.u32.u32
dp4a.u32 dp2a.u32.u32 div.full.u32 bmsk.b32 fns.b64
"""


def known_forms():
    """Every instruction with at most two flags and one type that is known; `lop3` has an immediate."""
    opcodes = sorted({opcode for module in MODULES for opcode in module.BUILDERS} - {"lop3"})
    tries = itertools.product(opcodes, FLAGS, ("", "sat", "cc"), TYPES)
    forms = []
    for opcode, first, second, kind in tries:
        modifiers = tuple(part for part in (first, second, kind) if part)
        try:
            forms.append((opcode, modifiers, operation(opcode, modifiers)))
        except UnknownInstruction:
            continue
    return forms


# An opcode that does not compute is not ours; one with modifiers that it does not have is an error that names it.
def test_unknown():
    assert operation("ld", ("global", "u32")) is None
    assert operation("vadd", ("u32", "u32", "u32")) is None
    with pytest.raises(UnknownInstruction, match=r"'add\.wide\.u32'"):
        operation("add", ("wide", "u32"))


@pytest.mark.parametrize("text", UNKNOWN.split())
def test_modifiers_that_do_not_exist(text):
    with pytest.raises(UnknownInstruction):
        operation(*split(text))


# ptxas takes every form that is known here.
def test_known_forms_exist(ptxas):
    registers = {1: "%p", 16: "%h", 32: "%r", 64: "%d", 128: "%q"}
    lines = []
    for opcode, modifiers, op in known_forms():
        names = [f"{registers[width(kind)]}{i}" for i, kind in enumerate(op.results[:1] + op.operands) if kind != "cc"]
        lines.append(f"{'.'.join((opcode, *modifiers))} {', '.join(names)};")
    assert len(lines) > 150
    declarations = "".join(f".reg .{'pred' if n == 1 else f'b{n}'} {name}<6>;" for n, name in registers.items())
    ptxas(
        f".version 8.4\n.target sm_90\n.address_size 64\n.entry k() {{ {declarations}\n"
        + "\n".join(lines)
        + "\nret; }",
        "sm_90",
    )


# Whatever the bits, nothing is raised and nothing is warned of, for arrays without an axis, too.
def test_no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _, _, op in known_forms():
            for pattern in (0, -1, 1 << 15):
                operands = [array(pattern % (1 << width(kind)), kind) for kind in op.operands if kind != "b128"]
                if len(operands) == len(op.operands):
                    op.function(*operands)


# Operands broadcast: a register against an immediate.
def test_broadcast():
    register = np.arange(64, dtype=np.uint32).reshape(2, 32)
    assert np.array_equal(operation("shl", ("b32",)).function(register, np.array(1, np.uint32))[0], 2 * register)
    mad = operation("mad", ("hi", "u64")).function
    assert mad(np.full((2, 1), 2**63, np.uint64), np.array(4, np.uint64), np.zeros(32, np.uint64))[0].shape == (2, 32)
    dp4a = operation("dp4a", ("s32", "s32")).function
    same = np.broadcast_to(np.array(0x01010101, np.uint32), (2, 32))
    assert np.array_equal(dp4a(same, same, register)[0], register + 4)
    prmt = operation("prmt", ("b32",)).function
    assert np.array_equal(prmt(np.array(7, np.uint32), register, np.array(0x4444, np.uint32))[0], register * 0x01010101)
    assert prmt(np.array(7, np.uint32), register[0], register[:, :1])[0].shape == (2, 32)


# A table that does not look at the registers gives its constant for all of them.
def test_constant_table():
    register = np.arange(64, dtype=np.uint32).reshape(2, 32)
    table = np.broadcast_to(np.uint32(0xFF), register.shape)
    result = operation("lop3", ("b32",)).function(register, register, register, table)[0]
    assert np.all(np.broadcast_to(result, register.shape) == 0xFFFFFFFF)
