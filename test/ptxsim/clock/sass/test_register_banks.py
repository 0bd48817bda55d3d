"""Which registers an instruction reads of the even and of the odd bank: each once, and what was kept not at all."""

import pytest

from ptxsim.clock.sass.register_banks import bank_reads
from ptxsim_cases.sass_text import sass_function


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("FFMA R0, R2, R3, R5", (1, 2)),
        ("FFMA R0, R2, R4, R6", (3, 0)),
        ("FFMA R1, R2, R3, R2", (1, 1)),  # the same register is read once
        ("FFMA R0, R2, 0.5, R3", (1, 1)),
        ("FFMA R0, -R2, |R4|, RZ", (2, 0)),
        ("MOV R2, RZ", (0, 0)),
        ("LDS.128 R4, [R2+0x10]", (0, 0)),  # memory instructions read theirs at another time
    ],
)
def test_registers_are_read_of_the_bank_that_they_are_in(text, reads):
    assert bank_reads(sass_function((1, text), (1, "EXIT")))[0] == reads


def test_what_is_kept_at_the_same_place_is_not_read_again():
    rows = "FFMA R0, R2.reuse, R4, R1", "FFMA R3, R2, R6, R5", "FFMA R3, R6, R2, R8"
    assert bank_reads(sass_function(*((1, row) for row in rows))) == ((2, 1), (1, 1), (3, 0))


def test_what_is_kept_is_lost_at_another_place_and_in_another_block():
    rows = (1, "FFMA R0, R2.reuse, R3, R1"), (1, "FFMA R3, R6, R2, R5")
    assert bank_reads(sass_function(*rows))[1] == (2, 1)
    rows = rows[0], ".L_next:", (1, "FFMA R3, R2, R6, R5"), (1, "BRA `(.L_next)")
    assert bank_reads(sass_function(*rows))[1] == (2, 1)
