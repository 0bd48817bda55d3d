"""The parser of the PTX simulator: what module text becomes which tree."""

import struct
import time
from pathlib import Path

import pytest

from ptxsim.parsing.parser import parse
from ptxsim.parsing.syntax import (
    Address,
    Arguments,
    Block,
    Function,
    Guard,
    Immediate,
    Instruction,
    Label,
    ModuleTree,
    Negated,
    Pair,
    Prototype,
    Register,
    Registers,
    Relocation,
    Sink,
    Special,
    Symbol,
    Targets,
    TensorAddress,
    Variable,
    Vector,
)

HEADER = ".version 8.5\n.target sm_90a, debug\n.address_size 64\n"
DATA = Path(__file__).parents[1] / "data"
REGISTERS = ".reg .b32 %r<10>; .reg .b64 %rd<4>; .reg .pred %p<3>; .reg .f32 f; .reg .v4 .f32 v;"


def kernel(body: str) -> Function:
    return parse(f"{HEADER}.visible .entry k() {{ {REGISTERS} {body} }}").functions["k"]


def statements(body: str) -> list:
    block = kernel(body).body
    assert block is not None
    return [each for each in block.statements if not isinstance(each, Registers)]


def instruction(text: str) -> Instruction:
    (found,) = statements(text)
    return found


def constant(text: str) -> Immediate:
    found = instruction(f"mov.b64 %rd0, {text};").operands[1]
    assert isinstance(found, Immediate)
    return found


def variable(text: str) -> Variable:
    return list(parse(HEADER + text).variables.values())[-1]


# Modules


def test_a_module_has_its_version_target_and_address_size():
    module = parse(HEADER)
    assert module == ModuleTree((8, 5), ("sm_90a", "debug"), 64, {}, {})


def test_comments_of_both_kinds_are_space():
    module = parse("// a\n/* .version 1.0 \n*/.version/**/8.5 // b\n.target sm_80")
    assert (module.version, module.target) == ((8, 5), ("sm_80",))


def test_a_kernel_has_parameters_and_performance_directives():
    function = parse(
        HEADER + ".visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 64 .b8 map[128])\n"
        '.reqntid 128\n.maxnreg 32 .pragma "nounroll"; .explicitcluster .reqnctapercluster 2, 1 { ret; }'
    ).functions["k"]
    assert function.is_entry
    assert function.linkage == "visible"
    assert function.directives == {
        "reqntid": (128, 1, 1),
        "maxnreg": (32,),
        "explicitcluster": (),
        "reqnctapercluster": (2, 1, 1),
    }
    pointer, tensor_map = function.parameters
    assert (pointer.type, pointer.size, pointer.alignment, pointer.target) == ("u64", 8, 8, "global")
    assert (tensor_map.type, tensor_map.shape, tensor_map.size, tensor_map.alignment) == ("b8", (128,), 128, 64)


def test_a_declaration_is_completed_by_its_definition():
    text = ".func (.param .b32 r) f (.param .b64 a);\n.func (.param .b32 r) f(.param .b64 a) .noreturn { trap; }"
    function = parse(HEADER + text).functions["f"]
    assert function.body is not None
    assert [each.name for each in (*function.returns, *function.parameters)] == ["r", "a"]


def test_a_function_may_take_registers():
    text = ".func (.reg .u32 %res) inc (.reg .u32 %ptr, .reg .u32 %by) { add.u32 %res, %ptr, %by; ret; }"
    block = parse(HEADER + text).functions["inc"].body
    assert block is not None
    assert block.statements[0].operands == (Register("%res"), Register("%ptr"), Register("%by"))


def test_an_alias_is_another_name_of_a_function():
    functions = parse(HEADER + ".func f() { ret; }\n.func g();\n.alias g, f;").functions
    assert functions["g"] is functions["f"]


# Variables


@pytest.mark.parametrize(
    ("text", "shape", "size", "alignment"),
    [
        (".global .f32 x;", (), 4, 4),
        (".shared .align 128 .b8 x[2][3][4];", (2, 3, 4), 24, 128),
        (".extern .shared .align 16 .b8 x[];", (0,), 0, 16),
        (".const .v4 .f32 x[2];", (2,), 32, 16),
        (".weak .global .attribute(.managed) .u16 x[(4 + 2) * WARP_SZ];", (192,), 384, 2),
    ],
)
def test_a_variable_has_shape_size_and_alignment(text: str, shape: tuple, size: int, alignment: int):
    found = variable(text)
    assert (found.shape, found.size, found.alignment) == (shape, size, alignment)


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        (".global .b32 x[2][3] = {{1, 2}, {3}};", struct.pack("<6i", 1, 2, 0, 3, 0, 0)),
        (".global .b32 x[] = {017, 0b101, 7U, -1, 0xFF};", struct.pack("<5i", 15, 5, 7, -1, 255)),
        (".const .f32 x[3] = {0f3f800000, -1.5, 0d4000000000000000};", struct.pack("<3f", 1, -1.5, 2)),
        (".global .v2 .f64 x = {1.0, 2e3};", struct.pack("<2d", 1, 2000)),
        (".global .u16 x = 70000;", struct.pack("<H", 70000 - 65536)),
    ],
)
def test_an_initial_value_becomes_bytes(text: str, contents: bytes):
    assert variable(text).initial == contents


def test_addresses_in_initial_values_are_relocations():
    found = variable(".global .u64 a; .global .u64 x[3] = {a, generic(a)+8, 5};")
    assert found.initial == bytes(16) + struct.pack("<Q", 5)
    assert found.relocations == (Relocation(0, 8, "a", 0, False), Relocation(8, 8, "a", 8, True))


def test_bytes_of_addresses_are_relocations():
    found = variable(".global .u64 a; .global .u8 x[3] = {0xFF(a), 0xFF00(a+4), 7};")
    assert found.relocations == (Relocation(0, 1, "a", 0, False), Relocation(1, 1, "a", 4, False, 8))


# Instructions


def test_an_instruction_has_guard_modifiers_operands_and_place():
    found = instruction("\n  @!%p1 ld.global.v2.b32 {%r1, _}, [%rd1+16];")
    assert found == Instruction(
        "ld",
        ("global", "v2", "b32"),
        (Vector((Register("%r1"), Sink())), Address(Register("%rd1"), 16)),
        Guard(Register("%p1"), True),
        5,
        3,
    )


def test_modifiers_may_have_scopes_and_stand_apart():
    found = instruction("st .async.weak.shared::cluster.mbarrier::complete_tx::bytes .b32 [%r1], %r2, [%r3];")
    assert found.modifiers == ("async", "weak", "shared::cluster", "mbarrier::complete_tx::bytes", "b32")


@pytest.mark.parametrize(
    ("text", "operand"),
    [
        ("%tid.x", Special("%tid", "x")),
        ("%laneid", Special("%laneid")),
        ("f", Register("f")),
        ("v.g", Register("v", "y")),
        ("!%p1", Negated(Register("%p1"))),
        ("%p1|%p2", Pair(Register("%p1"), Register("%p2"))),
        ("%p1|_", Pair(Register("%p1"), Sink())),
        ("_|%p1", Pair(Sink(), Register("%p1"))),
        ("[%rd1+-8]", Address(Register("%rd1"), -8)),
        ("[%rd1-8]", Address(Register("%rd1"), -8)),
        ("[buf + 4*2]", Address(Symbol("buf"), 8)),
        ("[16]", Address(Immediate(0, "int", 0), 16)),
        ("buf+16", Symbol("buf", 16)),
        ("$L__BB0_1", Symbol("$L__BB0_1")),
        ("[%rd1, {%r1, 0}]", TensorAddress(Register("%rd1"), (Register("%r1"), Immediate(0, "int", 0)))),
    ],
)
def test_an_operand_is_read_as_what_it_is(text: str, operand: object):
    assert instruction(f"op {text};").operands == (operand,)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("017", 15),
        ("0b11U", 3),
        ("-1", -1),
        ("~0", -1),
        ("0xffffffffffffffff", 2**64 - 1),
        ("(2 + 3) * WARP_SZ - 7 / 2", 157),
        ("-7 / 2", -3),
        ("-7 % 3", -1),
        ("1 << 4 | 1", 17),
        ("-1 > 2U", 1),
        ("-1 > 2", 0),
        ("1 ? 2 : 3", 2),
        ("!5 || 0 && 1", 0),
        ("(.u64) -1 >> 63", 1),
        ("-1 >> 63", -1),
        ("0x7fffffffffffffff + 1", -(2**63)),
    ],
)
def test_constants_of_integers_follow_c_in_64_bits(text: str, value: int):
    assert constant(text) == Immediate(value, "int", value % 2**64)


@pytest.mark.parametrize(
    ("text", "kind", "bits"),
    [
        ("0f3F800000", "f32", 0x3F800000),
        ("-0f3F800000", "f32", 0xBF800000),
        ("0f7F800001", "f32", 0x7F800001),
        ("0d7FF0000000000001", "f64", 0x7FF0000000000001),
        ("1.5", "f64", 0x3FF8000000000000),
        ("-2e-1", "f64", struct.unpack("<Q", struct.pack("<d", -0.2))[0]),
        ("1.0 / 4", "f64", 0x3FD0000000000000),
    ],
)
def test_constants_of_floating_point_keep_their_bits(text: str, kind: str, bits: int):
    found = constant(text)
    assert (found.kind, found.bits) == (kind, bits)


def test_a_call_is_normalised_to_results_callee_and_arguments():
    with_all = instruction("call.uni (%r1), f, (%r2, 3), proto;")
    assert with_all.operands == (
        Arguments((Register("%r1"),)),
        Register("f"),
        Arguments((Register("%r2"), Immediate(3, "int", 3))),
        Symbol("proto"),
    )
    assert instruction("call g;").operands == (Arguments(()), Symbol("g"), Arguments(()))


def test_labels_name_places_tables_and_prototypes():
    found = statements(
        "ts: .branchtargets L0, $L1;\nL0: ret;\n$L1:\nfs: .calltargets f, g;\n"
        "p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);"
    )
    assert found[0] == Targets("ts", "branch", ("L0", "$L1"), 4)
    assert found[1] == Label("L0", 5)
    assert found[3] == Label("$L1", 6)
    assert found[4] == Targets("fs", "call", ("f", "g"), 7)
    assert isinstance(found[5], Prototype)
    assert [each.size for each in (*found[5].returns, *found[5].parameters)] == [4, 4, 16]


def test_a_name_is_a_register_only_in_the_scope_that_declares_it():
    block, after = statements("{ .reg .pred q; setp.ne.b32 q, %r1, 0; @q add.u32 %r1, %r1, 1; }\nop q;")
    assert isinstance(block, Block)
    assert block.statements[1].operands[0] == Register("q")
    assert after.operands == (Symbol("q"),)


def test_an_inner_variable_hides_an_outer_register():
    (block,) = statements("{ .param .b32 f; st.param.b32 [f+0], %r1; }")
    assert block.statements[1].operands[0] == Address(Symbol("f"), 0)


# Debugging information


def test_instructions_carry_the_source_of_the_last_loc():
    text = f"""{HEADER}.entry k() {{
.loc 1 7 3
 op;
.loc 2 5 1, function_name $L__info_string0 + 2, inlined_at 1 7 3
.loc 2 9 1, function_name $L__info_string0, inlined_at 2 5 1
 op;
}}
.file 1 "a.cu"
.file 2 "b \\"c\\".cuh", 12, 34
.section .debug_str
{{
$L__info_string0:
.b8 102,0,103,
.b8 103,0
}}
.section .debug_abbrev {{ .b8 1 }}"""
    block = parse(text).functions["k"].body
    assert block is not None
    first, second = (each.source for each in block.statements)
    assert (first.file, first.line, first.column, first.inlined_at) == ("a.cu", 7, 3, None)
    assert (second.line, second.function) == (9, "f")
    assert (second.inlined_at.line, second.inlined_at.function) == (5, "gg")
    assert second.inlined_at.inlined_at == first


# Other compilers' modules


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.ptx")), ids=lambda path: path.stem)
def test_modules_of_other_compilers_are_read_to_the_last_instruction(path: Path):
    module = parse(path.read_text())
    assert any(function.is_entry for function in module.functions.values())
    # Every line that ends an instruction in a body is an instruction of the tree.
    pending = [function.body for function in module.functions.values() if function.body]
    lines: set[int] = set()
    while pending:
        for statement in pending.pop().statements:
            if isinstance(statement, Block):
                pending.append(statement)
            elif isinstance(statement, Instruction):
                lines.add(statement.line)
    stores = {
        number
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.strip().startswith(("st.", "ld.", "bar.sync", "mma.", "wgmma.", "ret;", "bra"))
    }
    assert stores <= lines


def test_ten_thousand_lines_take_less_than_a_second():
    body = "@%p1 fma.rn.f32 f, f, f, 0f3F800000;\nld.global.v2.b32 {%r1, %r2}, [%rd1+16];\n" * 5_000
    start = time.process_time()
    kernel(body)
    assert time.process_time() - start < 1


def test_a_place_names_the_calls_that_it_was_inlined_at_and_never_without_end():
    lines = ".loc 1 5 1, function_name $L0, inlined_at 1 5 1\n" * 5000
    text = f'.version 8.6\n.target sm_90a\n.address_size 64\n.entry k() {{\n{lines}ret; }}\n.file 1 "a.cu"\n'
    (instruction,) = parse(text).functions["k"].body.statements
    assert str(instruction.source).split(", inlined at ") == ["a.cu:5:1"] * 16
