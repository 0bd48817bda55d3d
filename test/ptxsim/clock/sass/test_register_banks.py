"""Operands of one bank of registers are read one after the other, unless they were kept."""

import pytest

from ptxsim.clock.sass.register_banks import read_cycles
from ptxsim_cases.sass_text import sass_function


@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("FFMA R0, R2, R3, R5", 2),
        ("FFMA R0, R2, R4, R6", 3),
        ("FFMA R1, R2, R3, R2", 1),  # the same register is read once
        ("FFMA R0, R2, 0.5, R3", 1),
        ("FFMA R0, -R2, |R4|, RZ", 2),
        ("MOV R2, RZ", 1),
        ("LDS.128 R4, [R2+0x10]", 1),  # memory instructions read theirs later
    ],
)
def test_an_operand_more_of_the_same_bank_takes_a_cycle_more(text, cycles):
    assert read_cycles(sass_function((1, text), (1, "EXIT")))[0] == cycles


def test_what_is_kept_at_the_same_place_is_not_read_again():
    rows = "FFMA R0, R2.reuse, R4, R1", "FFMA R3, R2, R6, R5", "FFMA R3, R6, R2, R8"
    assert read_cycles(sass_function(*((1, row) for row in rows))) == (2, 1, 3)


def test_what_is_kept_is_lost_at_another_place_and_in_another_block():
    moved = "FFMA R0, R2.reuse, R3, R1", "FFMA R3, R6, R2, R5"
    assert read_cycles(sass_function(*((1, row) for row in moved)))[1] == 2
    function = sass_function(
        (1, "FFMA R0, R2.reuse, R3, R1"), ".L_next:", (1, "FFMA R3, R2, R6, R5"), (1, "BRA `(.L_next)")
    )
    assert read_cycles(function)[1] == 2
