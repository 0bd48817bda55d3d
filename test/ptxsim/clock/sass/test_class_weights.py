"""What lines cost by the classes of their instructions."""

import pytest

from ptxsim.clock.sass.class_weights import estimate_cost
from ptxsim.clock.sass.pipes import Pipe
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of


def line_of(text, arch="sm_80"):
    source = (
        f".version 8.0\n.target {arch}\n.address_size 64\n.visible .entry k() {{\n"
        ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>; .reg .f64 %d<4>;\n"
        f"{text}\nret; }}\n"
    )
    return estimate_cost(ptx_runs(kernels_of(source).program.kernels["k"]), arch, "k", "there is no ptxas").lines[6]


@pytest.mark.parametrize(
    ("text", "pipe", "bounds"),
    [
        ("fma.rn.f32 %f1, %f2, %f3, %f1;", Pipe.FMA, (1, 2)),
        ("fma.rn.f64 %d1, %d2, %d3, %d1;", Pipe.DOUBLE, (1, 2)),
        ("add.s32 %r1, %r2, %r3;", Pipe.ALU, (0, 2)),
        ("add.s64 %rd1, %rd2, %rd3;", Pipe.ALU, (0, 4)),
        ("mul.lo.s64 %rd1, %rd2, %rd3;", Pipe.FMA, (0, 5)),
        ("ex2.approx.f32 %f1, %f2;", Pipe.MUFU, (1, 5)),
        ("ld.global.f32 %f1, [%rd1];", Pipe.LSU, (0.25, 2)),
        ("bar.sync 0;", Pipe.ADDRESS, (1, 2)),
    ],
)
def test_a_line_has_bounds_and_a_pipe(text, pipe, bounds):
    cost = line_of(text)
    assert cost.slots_between == bounds
    assert bounds[0] <= cost.slots <= bounds[1]
    assert list(cost.pipes) == [pipe]


@pytest.mark.parametrize(("arch", "cycles"), [("sm_80", 8), ("sm_90a", 6)])
def test_a_product_of_a_warp_keeps_it_as_long_as_its_tensor_pipe_takes(arch, cycles):
    registers = "{%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r1, %r2, %r3, %r4}"
    cost = line_of(f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {registers.replace('%r', '%f', 4)};", arch)
    assert (cost.stall_cycles, cost.tensor[0].shape, cost.latency_cycles) == (cycles, (16, 8, 16), 24)


def test_instructions_on_one_line_are_added():
    cost = line_of("fma.rn.f32 %f1, %f2, %f3, %f1; ex2.approx.f32 %f1, %f2;")
    assert cost.slots_between == (2, 7)
    assert list(cost.pipes) == [Pipe.FMA, Pipe.MUFU]
