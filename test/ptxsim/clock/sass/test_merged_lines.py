"""Loads and stores that ptxas makes wider than the PTX has them: their lines do not tell how often they run."""

from ptxsim.clock.sass.merged_lines import merged_lines
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of
from ptxsim_cases.sass_text import sass_function

#: Lines 5 and 6 load a number each, 7 four at once, 8 stores one.
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
ld.shared.f32 %f1, [%r1];
ld.shared.f32 %f2, [%r1+4];
ld.global.v4.f32 {%f3, %f4, %f5, %f6}, [%rd1];
st.shared.f32 [%r2], %f1;
ret; }
"""


def merged(*rows):
    function = sass_function(*rows)
    runs = ptx_runs(kernels_of(TEXT).program.kernels["k"])
    return merged_lines(runs, function, [each.line for each in function.instructions])


def test_all_loads_of_a_block_with_a_wider_one_may_be_merged():
    assert merged((5, "LDS.64 R2, [R1]"), (6, "LDS R4, [R1+0x4]"), (8, "STS [R2], R3"), (9, "EXIT")) == {5, 6}


def test_what_is_as_wide_as_its_line_is_not():
    assert merged((5, "LDS R2, [R1]"), (6, "LDS R3, [R1+0x4]"), (7, "LDG.E.128 R4, [R8.64]"), (9, "EXIT")) == set()


def test_another_block_and_another_kind_of_access_are_not_touched():
    rows = (5, "LDS.128 R4, [R1]"), (8, "STS [R2], R3"), (9, "@P0 BRA `(.L_more)"), (6, "LDS R3, [R1]")
    assert merged(*rows, ".L_more:", (9, "EXIT")) == {5}
