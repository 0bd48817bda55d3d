"""Loads and stores that ptxas makes wider than the PTX has them: of how many executions, or of an unknown number."""

from ptxsim.clock.sass.anchor_lines import anchor_lines
from ptxsim.clock.sass.merged_accesses import merged_executions, merged_lines
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of
from ptxsim_cases.sass_text import sass_function

#: Line 5 loads 2 bytes, 6 loads 4 as a vector, 7 and 8 load 4 each, 9 stores 4.
TEXT = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) { .reg .b64 %d<2>; .reg .b16 %h<4>; .reg .f32 %f<3>; ld.param.u64 %d1, [x];
ld.shared.b16 %h1, [%d1];
ld.shared.v2.b16 {%h2, %h3}, [%d1];
ld.shared.f32 %f1, [%d1+8];
ld.shared.f32 %f2, [%d1+12];
st.global.f32 [%d1], %f1;
ret; }
"""
#: What is not merged.
REST = ((6, "LDS R3, [R1]"), (7, "LDS R4, [R1]"), (8, "LDS R5, [R1]"), (9, "STG.E [R1.64], R4"))


def merged(*rows):
    runs, function = ptx_runs(kernels_of(TEXT).program.kernels["k"]), sass_function(*rows, (10, "EXIT"))
    return merged_executions(runs, function, anchor_lines(runs, function))


def test_a_wide_load_is_as_many_executions_as_it_has_narrow_ones():
    assert merged((5, "LDS.64 R6, [R1]"), *REST) == {0: 4}
    assert merged((5, "LDS R6, [R1]"), *REST) == {0: 2}


def test_loads_that_are_as_wide_as_those_of_the_ptx_are_one_each():
    assert merged((5, "LDS.U16 R6, [R1]"), *REST) == {}


def test_loads_of_other_lines_that_are_not_in_the_sass_are_what_was_merged():
    # line 8 has no SASS: the load of 8 bytes with line 7 is both, once each
    assert merged((5, "LDS.U16 R6, [R1]"), (6, "LDS R3, [R1]"), (7, "LDS.64 R4, [R1]"), (9, "STG.E [R1.64], R4")) == {}


#: Lines 5 and 6 load a number each, 7 four at once, 8 stores one.
OF_ONE_KIND = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) { .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;
ld.shared.f32 %f1, [%r1];
ld.shared.f32 %f2, [%r1+4];
ld.global.v4.f32 {%f3, %f4, %f5, %f6}, [%rd1];
st.shared.f32 [%r2], %f1;
ret; }
"""


def open_lines(*rows):
    function = sass_function(*rows)
    runs = ptx_runs(kernels_of(OF_ONE_KIND).program.kernels["k"])
    return merged_lines(runs, function, [each.line for each in function.instructions])


def test_all_loads_of_a_block_with_a_wider_one_may_be_merged():
    assert open_lines((5, "LDS.64 R2, [R1]"), (6, "LDS R4, [R1+0x4]"), (8, "STS [R2], R3"), (9, "EXIT")) == {5, 6}


def test_what_is_as_wide_as_its_line_is_not():
    assert open_lines((5, "LDS R2, [R1]"), (6, "LDS R3, [R1+0x4]"), (7, "LDG.E.128 R4, [R8.64]"), (9, "EXIT")) == set()


def test_another_block_and_another_kind_of_access_are_not_touched():
    rows = (5, "LDS.128 R4, [R1]"), (8, "STS [R2], R3"), (9, "@P0 BRA `(.L_more)"), (6, "LDS R3, [R1]")
    assert open_lines(*rows, ".L_more:", (9, "EXIT")) == {5}
