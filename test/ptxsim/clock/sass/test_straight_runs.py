"""The straight runs of PTX."""

from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of

TEXT = """.version 8.0
.target sm_80
.address_size 64
.func twice(.reg .b32 %a) {
ret; }
.visible .entry k() {
.reg .pred %p<2>; .reg .b32 %r<3>;
mov.u32 %r1, 0;
LOOP: add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 9; @%p1 bra LOOP;
@%p1 exit;
call twice, (%r1);
mov.u32 %r2, %r1;
ret; }
"""


def test_a_run_ends_at_a_jump_and_starts_at_a_target():
    runs = ptx_runs(kernels_of(TEXT).program.kernels["k"])
    assert [run.lines for run in runs.runs if run.lines] == [(8,), (9,), (10,), (11, 12, 13), (5,)]
    assert runs.graph.successors[:4] == ((1,), (1, 2), (3,), ())
    assert [runs.graph.depth(run) for run in range(4)] == [0, 1, 0, 0]
    assert {runs.run_of[5], 0} <= runs.graph.reached
    assert len(runs.on_line[9]) == 3
    assert runs.run_of[12] == 3
