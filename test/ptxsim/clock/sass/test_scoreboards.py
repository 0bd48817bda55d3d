"""On what an instruction waits."""

from ptxsim.clock.sass.scoreboards import waited_for
from ptxsim_cases.sass_text import sass_function


def test_a_use_waits_for_all_loads_that_have_its_scoreboard():
    function = sass_function(
        (1, "LDG.E R1, [R8.64]", {"write": 0}),
        (2, "LDG.E R2, [R8.64]", {"write": 0}),
        (3, "LDG.E R3, [R8.64]", {"write": 1}),
        (4, "FADD R4, R1, R2", {"waits": (0,)}),
        (5, "FADD R4, R4, R3", {"waits": (0, 1)}),
    )
    assert waited_for(function) == ((), (), (), (0, 1), (2,))


def test_a_store_may_be_waited_for_until_it_has_read_its_operands():
    function = sass_function((1, "STG.E [R8.64], R1", {"read": 2}), (2, "MOV R1, R2", {"waits": (2,)}))
    assert waited_for(function) == ((), (-1,))


def test_a_wait_sees_the_load_of_the_round_before():
    function = sass_function(
        (1, "LDG.E R1, [R8.64]", {"write": 0}),
        ".L_x_0:",
        (2, "FADD R2, R1, R2", {"waits": (0,)}),
        (3, "LDG.E R1, [R8.64]", {"write": 0}),
        (4, "@P0 BRA `(.L_x_0)"),
        (5, "EXIT"),
    )
    assert waited_for(function)[1] == (0, 2)


def test_a_counted_wait_leaves_the_latest_open():
    function = sass_function(
        (1, "LDGDEPBAR", {"write": 0}),
        (2, "LDGDEPBAR", {"write": 0}),
        (3, "DEPBAR.LE SB0, 0x1"),
        (4, "DEPBAR.LE SB0, 0x0"),
    )
    assert waited_for(function) == ((), (), (0,), (1,))
