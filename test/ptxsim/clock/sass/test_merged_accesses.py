"""Loads of unrolled rounds that ptxas has merged: how many executions one access of the SASS is."""

from ptxsim.clock.sass.anchor_lines import anchor_lines
from ptxsim.clock.sass.merged_accesses import merged_executions
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
