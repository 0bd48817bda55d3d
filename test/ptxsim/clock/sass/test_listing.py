"""The disassembly as instructions and basic blocks."""

from ptxsim.clock.sass.listing import read_listing
from ptxsim_cases.sass_text import sass_function, sass_text


def test_an_instruction_has_its_parts_and_its_line():
    function = sass_function((7, "@!P0 IMAD.MOV.U32 R3, RZ, RZ, R2", {"stall": 4, "write": 2}))
    (each,) = function.instructions
    assert (each.predicate, each.opcode, each.modifiers, each.operands) == (
        "!P0",
        "IMAD",
        ("MOV", "U32"),
        "R3, RZ, RZ, R2",
    )
    assert (each.address, each.line, each.name, each.is_conditional) == (0, 7, "IMAD.MOV.U32", True)
    assert (each.control.stall, each.control.write_scoreboard) == (4, 2)


def test_a_block_ends_at_a_jump_and_starts_at_its_target():
    function = sass_function(
        (1, "MOV R1, R2"),
        ".L_x_1:",
        (2, "FADD R1, R1, R2"),
        (3, "@P0 BRA `(.L_x_1)"),
        ".L_unused:",
        (4, "STG.E [R2.64], R1"),
        (4, "EXIT"),
        (0, "NOP"),
    )
    assert [each.block for each in function.instructions] == [0, 1, 1, 2, 2, 3]
    assert function.successors == ((1,), (1, 2), (), ())


def test_a_uniform_loop_of_ptxas_and_the_way_of_divergent_warps_are_no_loops():
    function = sass_function(
        ".L_x_1:",
        (1, "UTMALDG.2D [UR4], [UR8]"),
        (1, "@P0 BRA.U.ANY `(.L_x_1)"),
        (2, "BRA.DIV UR4, `(.L_x_2)"),
        (3, "EXIT"),
        ".L_x_2:",
        (2, "WARPSYNC R1"),
    )
    assert function.successors == ((1,), (2,), (), ())


def test_warps_converge_at_the_label_of_the_last_bssy_of_the_barrier():
    function = sass_function(
        (1, "BSSY B0, `(.L_x_1)"),
        (1, "@P0 BRA `(.L_x_0)"),
        (2, "FADD R1, R1, R2"),
        ".L_x_0:",
        (3, "BSYNC B0"),
        (4, "NOP"),
        ".L_x_1:",
        (5, "EXIT"),
    )
    assert function.successors == ((1, 2), (2,), (4,), (4,), ())


def test_a_jump_by_a_table_goes_where_nvdisasm_says():
    function = sass_function(
        (1, 'BRX R4 -0x140 (*"BRANCH_TARGETS .L_x_2,.L_x_1"*)'),
        ".L_x_1:",
        (2, "EXIT"),
        ".L_x_2:",
        (3, "EXIT"),
        ".L_x_3:",
        (4, "EXIT"),
    )
    assert function.successors[0] == (1, 2)


def test_ptxas_own_functions_are_slow_paths_and_those_of_the_user_are_entries():
    function = sass_function(
        (1, "CALL.REL.NOINC `($k$f)"),
        (1, "EXIT"),
        "$k$f:",
        (8, "RET.REL.NODEC R4 `(k)"),
        "$__internal_0_$__cuda_sm20_rcp_rn_f32_slowpath:",
        (8, "RET.REL.NODEC R4 `(k)"),
    )
    assert function.entries == (0, 1)
    assert function.slow == {2}


def test_each_kernel_has_a_section():
    text = sass_text("first", (1, "EXIT")) + "\t.section\t.nv.info,\n" + sass_text("second", (9, "NOP"), (9, "EXIT"))
    assert {name: len(each.instructions) for name, each in read_listing(text).items()} == {"first": 1, "second": 2}
