"""Long reductions with few results: CTAs take parts of the rows, and a second kernel what the parts give.

On the simulator with all checks, and by the statements' other readings; each element is moved once all the same.
"""

import numpy as np
import pytest

import tinyc
from analysis_programs.region_kernels import one_kernel_program
from gpu_programs import memory_bound as programs
from gpu_programs.measured import Run
from gpu_programs.running import by_threads, sequentially
from tinyc import pipeline, text
from tinyc.target import target_of

SMS = target_of("sm_80").sms


def launches(model):
    """Return the names of the kernels that are launched, with the CTAs of their grids along x."""
    return [(kernel.symbol, kernel.grid[0]) for kernel in model.lowering.program().kernels]


ALIGNED = {
    "matrix": lambda: programs.total("64 512", axes=(0, 1)),
    "matrix of 16 bits": lambda: programs.total("60 512", "bf16", axes=(0, 1)),
    "vector": lambda: programs.total("10000", "f16", axes=(0,)),
    "long rows": lambda: programs.total("3 8000", "f16"),
    "few columns": lambda: programs.total("5000 32", axes=(0,)),
    "mean and largest": lambda: programs.statistics("48 512"),
    "of columns": lambda: programs.statistics("4096 16", "f16", axes=(0,)),
    "channels": lambda: programs.total("16 8 512", axes=(0, 2)),
    "scalar product": lambda: programs.dot(8192),
}
UNALIGNED = {
    "odd matrix": lambda: programs.total("63 501", axes=(0, 1)),
    "odd vector": lambda: programs.total("10007", "f16", axes=(0,)),
    "long odd rows": lambda: programs.total("3 8003", "f16"),
    "few odd columns": lambda: programs.total("5003 33", axes=(0,)),
    "seven columns": lambda: programs.total("5003 7", axes=(0,)),
}


@pytest.mark.parametrize("name", [*ALIGNED, *UNALIGNED])
def test_parts_move_each_element_once(name):
    run = Run.of((ALIGNED | UNALIGNED)[name](), plan={"split": {"k": 1024}}).check()
    assert [symbol for symbol, _ in launches(run.model)] == ["k_parts", "k"]
    assert run.bytes <= 1.05 * run.needed
    sectors, fewest = run.sectors
    assert sectors <= (1.1 if name in ALIGNED else 1.3) * fewest
    assert run.bank_conflicts == 0


@pytest.mark.parametrize("run", [by_threads, sequentially])
@pytest.mark.parametrize("name", ["mean and largest", "scalar product", "odd matrix", "long odd rows", "seven columns"])
def test_threads_and_sequential_code_agree_with_the_reference(name, run):
    whole = (ALIGNED | UNALIGNED)[name]()
    done = Run.of(whole, plan={"split": {"k": 1024}})
    module = text.parse(str(one_kernel_program(whole)))
    pipeline.parse("region-plan{plan='set split = {\"k\": 1024};'},region-to-gpu").run(module)
    done.check(run(module, done.inputs))


@pytest.mark.parametrize("op", ["sum", "max", "min", "prod"])
@pytest.mark.parametrize("element", ["i8", "ui8", "i64", "bf16", "f64"])
def test_every_reduction_of_every_type_is_combined_of_parts(op, element):
    Run.of(programs.total("2 333", element, op=op), plan={"split": {"k": 64}}).check()


@pytest.mark.parametrize(
    ("program", "ctas"),
    [
        (lambda: programs.total("4096 1024", axes=(0, 1)), 512),
        (lambda: programs.total("1000003", axes=(0,)), 244),
        (lambda: programs.total("4 1000000", axes=(1,)), 500),
        (lambda: programs.total("1000000 64", "f16", axes=(0,)), 625),
        (lambda: programs.total("8192 1024", "f16", axes=(0,)), 512),
    ],
)
def test_what_is_long_enough_fills_the_machine(program, ctas):
    model = tinyc.compile(str(one_kernel_program(program())), target="sim")
    (first, grid), (second, _) = launches(model)
    assert (first, second, grid) == ("k_parts", "k", ctas)
    assert grid >= SMS


def test_a_large_sum_is_in_parts_by_default():
    run = Run.of(programs.total("512 1024", axes=(0, 1))).check()
    assert launches(run.model) == [("k_parts", 128), ("k", 1)]
    assert run.bytes <= 1.001 * run.needed
    assert "atom" not in run.model.text("ptx")  # what is added in any order would differ from run to run


@pytest.mark.parametrize(
    "program",
    [
        programs.total("512 1024"),  # as many rows as keep the machine busy
        programs.total("16 256", axes=(0, 1)),  # a second launch would take longer
        programs.softmax("1 65536"),  # the sum needs the largest number
        programs.total("M N"),  # rows of a number that is not known
    ],
)
def test_rows_that_are_many_or_short_or_need_each_other_are_whole(program):
    model = tinyc.compile(str(one_kernel_program(program)), target="sim")
    assert [symbol for symbol, _ in launches(model)] == ["k"]


@pytest.mark.parametrize("length", [0, 1, 7, 16383, 16384, 16385, 50003])
def test_a_length_may_be_known_at_a_run_only(length):
    x = np.random.default_rng(0).standard_normal(length).astype(np.float32)
    run = Run.of(programs.total("N", axes=(0,)), {"x": x}).check()
    assert launches(run.model)[0][1].__str__() == "N floordiv 16384"


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (5, 100), (700, 40)])
def test_both_sides_of_a_matrix_may_be_known_at_a_run_only(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    Run.of(programs.total("M N", axes=(0, 1)), {"x": x}).check()
    if shape[0] > 1:
        Run.of(programs.total("M 40", axes=(0,)), {"x": np.resize(x, (shape[0], 40))}).check()
