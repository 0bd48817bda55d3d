"""How many instructions of the SASS one `mma` or `wmma` is."""

from collections import Counter

import pytest

from ptxsim.clock.sass.anchor_lines import anchor_lines
from ptxsim.clock.sass.kernel_costs import sass_cost, sass_of
from ptxsim.clock.sass.multiplicity import anchors_of_executions
from ptxsim.clock.sass.pipes import Rank, rank_of
from ptxsim.clock.sass.straight_runs import ptx_runs
from ptxsim.kernels import kernels_of
from ptxsim_cases.sass_text import needs_sass_tools, sass_function


def registers(name, count):
    return "{" + ", ".join(f"%{name}{each}" for each in range(count)) + "}"


def text_of(shape, element, result, counts, rows="row", columns="col", space="shared"):
    """Line 5 loads A, 6 B, 7 C, 8 multiplies, 9 stores D; `counts` are the registers of A, B and C."""
    a, b, c = (registers(name, count) for name, count in zip("abc", counts, strict=True))
    types = f"{result}.{result}" if element == "f16" else f"{result}.{element}.{element}.{result}"
    at = "[%d2" if space == "shared" else "[%d1"
    kind = "f32" if result == "f32" else "b32"
    own = f".reg .b64 %d<9>; .reg .b32 %a<9>, %b<9>; .reg .{kind} %c<9>; .shared .align 16 .b8 s[32768];"
    return f""".version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x) {{ {own} ld.param.u64 %d1, [x]; mov.u64 %d2, s;
wmma.load.a.sync.aligned.{rows}.{shape}.{space}.{element} {a}, {at}];
wmma.load.b.sync.aligned.{columns}.{shape}.{space}.{element} {b}, {at}+4096];
wmma.load.c.sync.aligned.row.{shape}.{space}.{result} {c}, {at}+8192];
wmma.mma.sync.aligned.{rows}.{columns}.{shape}.{types} {c}, {a}, {b}, {c};
wmma.store.d.sync.aligned.row.{shape}.{space}.{result} {at}+16384], {c};
ret; }}
"""


LOAD_A, LOAD_C, PRODUCT, STORE = 5, 7, 8, 9
HALVES = text_of("m16n16k16", "f16", "f16", (8, 8, 4))


@pytest.mark.parametrize(
    ("line", "instruction", "count"),
    [
        (PRODUCT, "HMMA.16816.F16 R8, R12, R6, R8", 2),  # 16 × 16 × 16 of 16 × 8 × 16
        (PRODUCT, "HMMA.1688.F16 R8, R12, R6, R8", 4),
        (LOAD_A, "LDSM.16.M88.4 R4, [R2]", 1),  # 512 bytes, 128 of each matrix
        (LOAD_A, "LDSM.16.M88.2 R4, [R2]", 2),
        (LOAD_A, "LDG.E R4, [R2.64]", 4),  # 128 bytes of a warp
        (LOAD_C, "LDS.64 R4, [R2]", 2),
        (STORE, "STG.E.U16 [R2.64], R4", 8),
    ],
)
def test_an_execution_is_its_work_over_that_of_one_instruction(line, instruction, count):
    function = sass_function((line, instruction), (line, instruction))
    assert anchors_of_executions(runs_of(HALVES), function, [line, line]) == {line: count}


def runs_of(text):
    return ptx_runs(kernels_of(text).program.kernels["k"])


def test_unlike_instructions_leave_it_open():
    function = sass_function((STORE, "STG.E [R2.64], R4"), (STORE, "STG.E.64 [R2.64], R4"))
    assert anchors_of_executions(runs_of(HALVES), function, [STORE, STORE]) == {STORE: 0}


@needs_sass_tools
@pytest.mark.parametrize(
    "text",
    [
        HALVES,
        text_of("m16n16k16", "f16", "f32", (8, 8, 8), "col", "row", "global"),
        text_of("m32n8k16", "bf16", "f32", (8, 2, 8)),
        text_of("m8n32k16", "s8", "s32", (1, 4, 8)),
        text_of("m16n16k8", "tf32", "f32", (4, 4, 8), "col"),
    ],
)
def test_ptxas_makes_as_many(text):
    sass = sass_of(text, "sm_80", "k")
    runs = ptx_runs(sass.code)
    lines = anchor_lines(runs, sass.function)
    code = zip(lines, sass.function.instructions, strict=True)
    made = Counter(line for line, each in code if line and rank_of(each) >= Rank.MERGED)
    assert anchors_of_executions(runs, sass.function, lines) == made


@needs_sass_tools
def test_a_loop_of_wmma_is_one_copy_and_not_two():
    loop = HALVES.replace("wmma.load.a", "LOOP: wmma.load.a", 1)
    loop = loop.replace("wmma.store", "add.s64 %d2, %d2, 64; setp.lt.s64 %p1, %d2, %d1; @%p1 bra LOOP;\nwmma.store", 1)
    loop = loop.replace("{ .reg", "{ .reg .pred %p<2>; .reg", 1)
    cost = sass_cost(loop, "sm_80", "k")
    assert cost.lines[PRODUCT].copies == 1
    assert cost.lines[PRODUCT].pipe_totals["tensor"] == 2
