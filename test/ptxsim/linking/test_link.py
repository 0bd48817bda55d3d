"""The linker of the PTX simulator: names become places, bodies become one list of instructions."""

import struct
from pathlib import Path

import pytest

from ptxsim.errors import PtxError
from ptxsim.linking.code import Code, Program
from ptxsim.linking.link import link
from ptxsim.parsing.parser import parse
from ptxsim.parsing.syntax import (
    Address,
    Arguments,
    BranchTable,
    BranchTarget,
    FunctionAddress,
    FunctionTable,
    Guard,
    Location,
    Negated,
    Operand,
    Pair,
    Prototype,
    Register,
    Slot,
    Symbol,
    TensorAddress,
    Vector,
)

HEADER = ".version 8.5\n.target sm_90a\n"
DATA = Path(__file__).parents[1] / "data"


def program(text: str) -> Program:
    return link(parse(HEADER + text))


def code(body: str, before: str = "", parameters: str = "") -> Code:
    return program(f"{before}\n.entry k({parameters}) {{ {body}\n }}").kernels["k"]


def refused(text: str) -> PtxError:
    with pytest.raises(PtxError) as caught:
        program(text)
    return caught.value


def offset(operand: Operand) -> int:
    if isinstance(operand, Address):
        operand = operand.base
    assert isinstance(operand, Location)
    return operand.offset


# Registers


def test_each_register_that_is_used_gets_one_slot():
    found = code(".reg .b32 %r<1000000>; .reg .pred p; op %r7, %r9; @!p op %r7;")
    assert [(each.index, each.type, each.name) for each in found.slots] == [
        (0, "b32", "%r7"),
        (1, "b32", "%r9"),
        (2, "pred", "p"),
    ]
    assert found.instructions[1].guard == Guard(found.slots[2], True)
    assert found.instructions[1].operands == (found.slots[0],)


def test_registers_of_scopes_are_different_ones():
    found = code(".reg .b32 a; { op a; .reg .u64 a; op a; } { .reg .f32 a; op a; } op a;")
    slots = [each.operands[0] for each in found.instructions[:-1]]
    assert [each.type for each in slots if isinstance(each, Slot)] == ["b32", "u64", "f32", "b32"]
    assert slots[0] == slots[3]


def test_a_vector_register_is_a_slot_for_each_element():
    found = code(".reg .v2 .f32 v; op v, v.y;")
    vector, element = found.instructions[0].operands
    assert vector == Vector(found.slots)
    assert element == found.slots[1]


def test_registers_inside_of_operands_are_resolved():
    found = code(".reg .b32 a; .reg .pred p; op {a, 1}, [a+4], [a, {a}], p|_, !p;")
    a, p = found.slots
    vector, address, tensor_address, pair, negated = found.instructions[0].operands
    assert isinstance(vector, Vector)
    assert vector.items[0] == a
    assert address == Address(a, 4)
    assert isinstance(tensor_address, TensorAddress)
    assert (tensor_address.base, tensor_address.coordinates) == (a, (a,))
    assert isinstance(pair, Pair)
    assert pair.first == p
    assert negated == Negated(p)


# Control flow


def test_labels_are_instruction_numbers_of_their_scope():
    found = code("bra DONE; { L: op; bra L; } { bra L; op; L: op; } DONE:")
    targets = [each.operands[0].index for each in found.instructions if each.opcode == "bra"]
    assert targets == [6, 1, 5]
    assert found.instructions[6].opcode == "ret"


def test_a_branch_table_has_instruction_numbers_in_order():
    found = code(".reg .b32 i; ts: .branchtargets B, A, B; brx.idx i, ts; A: op; B: ret;")
    assert found.instructions[0].operands[1] == BranchTable((2, 1, 2), "ts")


def test_a_body_that_ends_returns():
    assert [each.opcode for each in code("op;").instructions] == ["op", "ret"]


# Variables


def test_kernel_parameters_lie_at_their_alignment():
    found = code(
        "ld.param.u64 [c+8];", parameters=".param .u8 a, .param .u32 b, .param .align 64 .b8 c[128], .param .u64 d"
    )
    locations = [each for each in found.kernel.parameters if isinstance(each, Location)]
    assert [each.offset for each in locations] == [0, 4, 64, 192]
    assert {each.space for each in locations} == {"param::entry"}
    assert found.parameter_bytes == 200
    assert found.instructions[0].operands == (Address(locations[2], 8),)


def test_shared_variables_that_a_kernel_uses_are_laid_out_for_it():
    text = """
.shared .align 4 .b8 unused[100]; .shared .b8 a[3]; .shared .align 16 .b8 b[8]; .extern .shared .align 128 .b8 d[];
.extern .shared .b32 e[];
.entry k() { .shared .b64 c; op a; op b+4; op c; op d; op e; }
.entry other() { op b; }"""
    found = program(text)
    kernel = found.kernels["k"]
    assert [offset(each.operands[0]) for each in kernel.instructions[:-1]] == [0, 20, 24, 128, 128]
    assert (kernel.shared_bytes, kernel.dynamic_offset) == (32, 128)
    assert found.kernels["other"].shared_bytes == 8


def test_a_scope_hides_a_module_variable():
    found = code("op x; { .shared .b32 x; op x; } op x;", ".global .b32 y; .global .b32 x;")
    spaces = [each.operands[0].space for each in found.instructions[:-1]]
    assert spaces == ["global", "shared", "global"]


def test_global_memory_holds_initial_values_and_addresses():
    text = """
.global .b8 a[3] = {1, 2, 3}; .global .u64 p[2] = {a, generic(c)+2}; .global .u64 f = g; .const .b32 c[2] = {5, 6};
.func g() { ret; }
.entry k() { .global .b32 counter; op counter; }"""
    found = program(text)
    memory = found.global_memory
    assert memory.initial == bytes((1, 2, 3)) + bytes(29)
    assert (memory.size, memory.alignment) == (36, 8)
    assert found.constant_memory.initial == struct.pack("<2i", 5, 6)
    a, c = memory.variables[0], found.constant_memory.variables[0]
    patches = [(each.offset, each.target, each.addend, each.generic) for each in memory.patches]
    assert patches[:2] == [(8, a, 0, False), (16, c, 2, True)]
    assert patches[2][0] == 24
    assert patches[2][1] == FunctionAddress("g", found.kernels["k"].routines["g"].address)


# Functions

CALLED = """
.func (.param .b32 r) f (.param .b32 x, .param .align 8 .b8 s[16])
{ .reg .b32 a; .local .b8 stack[12]; ld.param.b32 a, [x]; st.param.b32 [r+0], a; ret; }
.extern .func g (.param .b64 x);
"""


def test_called_functions_stand_behind_the_kernel_with_places_of_their_own():
    found = code(
        ".reg .b32 b; .local .b8 mine[8]; { .param .b32 p; .param .align 8 .b8 q[16]; .param .b32 r;"
        " st.param.b32 [p], b; call (r), f, (p, q); ld.param.b32 b, [r]; }",
        CALLED,
    )
    routine = found.routines["f"]
    call = found.instructions[1]
    assert [each.opcode for each in found.instructions] == ["st", "call", "ld", "ret", "ld", "st", "ret", "ret"]
    assert (routine.start, routine.end, found.kernel.start, found.kernel.end) == (4, 8, 0, 4)
    assert call.operands[1] == FunctionAddress("f", routine.address)
    assert not set(found.kernel.slots) & set(routine.slots)
    assert (found.kernel.param, routine.param) == (range(28), range(28, 56))
    assert (found.kernel.local, routine.local) == (range(8), range(8, 20))
    assert [offset(each) for each in (*routine.returns, *routine.parameters) if isinstance(each, Location)] == [
        28,
        32,
        40,
    ]
    assert not routine.recursive


def test_a_function_without_a_body_is_known_by_name():
    found = code("{ .param .b64 p; call g, (p); }", CALLED)
    assert (found.routines["g"].start, found.routines["g"].end) == (-1, -1)


def test_functions_that_can_come_back_to_themselves_are_recursive():
    text = """.func b(); .func c() { ret; } .func a() { call b; call c; ret; } .func b() { call a; ret; }
.entry k() { call a; call c; }"""
    routines = program(text).kernels["k"].routines
    assert {name: each.recursive for name, each in routines.items()} == {"k": False, "a": True, "b": True, "c": False}


def test_a_call_through_a_register_reaches_functions_whose_address_is_taken():
    text = """.func a() { ret; } .func b() { ret; } .func never() { ret; } .global .u64 table[1] = {a};
.entry k() { .reg .b64 f; mov.b64 f, b; p: .callprototype _ (); call f, p; fs: .calltargets a, b; call f, fs; }"""
    found = program(text).kernels["k"]
    assert set(found.routines) == {"k", "a", "b"}
    assert isinstance(found.instructions[1].operands[3], Prototype)
    table = found.instructions[2].operands[3]
    assert isinstance(table, FunctionTable)
    assert [each.name for each in table.functions] == ["a", "b"]


def test_parameters_in_registers_are_slots():
    found = code(".reg .b32 a; call (a), inc, (a);", ".func (.reg .b32 r) inc (.reg .b32 x) { op r, x; }")
    routine = found.routines["inc"]
    operands = found.instructions[routine.start].operands
    assert operands == (*routine.returns[0], *routine.parameters[0])


# Errors


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("bra L;", "'L' is not declared"),
        ("{ L: } bra L;", "'L' is not declared"),
        ("L: L: ret;", "the label 'L' is defined twice"),
        ("op nothing;", "'nothing' is not declared"),
        (".reg .b32 r<4>; op r4;", "'r4' is not declared"),
        (".reg .b32 r<4>; op r03;", "'r03' is not declared"),
        pytest.param(f".reg .b32 r<4>; op r{'1' * 5000};", "is not declared", id="a number of 5000 digits"),
        ("L: op L+4;", "'L' is no variable"),
        ("L: op [L];", "an address is a register, a variable or a number"),
        (".reg .v2 .b32 v; op v.z;", "has no element '.z'"),
        (".reg .b32 v; op v.x;", "has no element '.x'"),
        (".reg .v2 .pred v;", "there are no vectors of predicates"),
        ("t: .branchtargets f;", "'f' is no label"),
        ("L: t: .calltargets L;", "'L' is no function"),
        ("call f;", "the call has 0 results, 'f' has 1"),
        (".reg .b32 r; call (r), f, (r);", "the call has 1 arguments, 'f' has 2"),
        (".reg .b64 r; call r;", "a call through a register ends with its targets or its prototype"),
    ],
)
def test_what_does_not_resolve_is_refused_with_its_line(body: str, message: str):
    error = refused(f"{CALLED}.entry k() {{\n{body}\n}}")
    assert message in error.message
    assert error.line == 8


def test_an_initial_value_names_a_variable_that_has_an_address():
    assert "'x' has the address of 'y'" in refused(".shared .b32 y; .global .u64 x = y;").message


def test_code_that_grows_beyond_its_text_is_refused():
    functions = ".func f() { " + "op; " * 10_000 + "}\n"
    kernels = "".join(f".entry k{number}() {{ call f; }}\n" for number in range(200))
    assert "the kernels have more than" in refused(functions + kernels).message


# Whole modules


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.ptx")), ids=lambda path: path.stem)
def test_modules_of_other_compilers_link_without_names(path: Path):
    for kernel in link(parse(path.read_text())).kernels.values():
        pending: list = [operand for each in kernel.instructions for operand in each.operands]
        while pending:
            operand = pending.pop()
            assert not isinstance(operand, Register | Symbol)
            if isinstance(operand, Vector | Arguments):
                pending.extend(operand.items)
            elif isinstance(operand, Address | TensorAddress):
                pending.append(operand.base)
            elif isinstance(operand, BranchTarget):
                assert 0 <= operand.index < len(kernel.instructions)
