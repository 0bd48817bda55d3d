"""Kernels that memory bounds, on the simulator with all checks: the numbers of the reference, and no needless traffic.

Operands and results that have all elements are moved once; what is broadcast along rows or columns is small, and read
by each CTA once.
"""

import random

import numpy as np
import pytest

import tinyc
from analysis_programs.group_programs import windows_program
from analysis_programs.region_kernels import one_kernel_program
from analysis_programs.tiny_programs import Program
from gpu_programs import memory_bound as programs
from gpu_programs.measured import Run
from gpu_programs.running import by_threads, sequentially
from parameters import in_turn, pairwise, seeds
from tinyc import pipeline, text


@pytest.mark.parametrize("name", programs.ALIGNED)
def test_what_is_aligned_is_moved_once_in_accesses_of_16_bytes(name):
    run = Run.of(programs.ALIGNED[name]()).check()
    sectors, fewest = run.sectors
    assert sectors <= 1.1 * fewest
    assert run.bank_conflicts <= programs.ROW_ENDS.get(name, 0)
    assert run.full_size_bytes <= 1.05 * run.full_size_needed
    assert all(each.read <= each.most for each in run.broadcast)
    widths = run.bytes_by_width()
    least = 0.3 if name.startswith("cast") else 0.95  # the narrower side of a cast has half as many bytes at once
    assert widths[16] >= least * sum(widths.values())


@pytest.mark.parametrize("name", programs.UNALIGNED)
def test_what_is_not_aligned_is_moved_once_in_few_sectors(name):
    run = Run.of(programs.UNALIGNED[name]()).check()
    sectors, fewest = run.sectors
    assert sectors <= 1.3 * fewest
    assert run.full_size_bytes <= 1.05 * run.full_size_needed
    assert all(each.read <= each.most for each in run.broadcast)
    assert run.bank_conflicts <= programs.ROW_ENDS.get(name, 0)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("first", [0, 1, 3])
def test_rows_that_begin_anywhere_are_read_where_they_are(length, first):
    p = Program(x="f32 37 11")
    rows = p.shrink(p["x"], lo=(0, first), hi=(37, first + length), step=(1, 1))
    run = Run.of(p.result(p.sum(rows, 1))).check()
    assert run.bytes <= 1.2 * 37 * (length + 1) * 4  # LLVM may load the first element of an access by itself, too


def test_rows_without_elements_share_none():
    p = Program(x="f16 6 0", w="f16 0")
    weighted = p.mul(p["x"], p.expand(p["w"], shape="6 0", broadcast_dimensions=(1,)))
    Run.of(p.result(p.op("reduce", weighted, op="sum", axes=(1,), element="f32"))).check()
    Run.of(programs.bias_residual("4 0", "bf16")).check()


@pytest.mark.parametrize("element", ["f16", "bf16", "f32"])
def test_what_columns_of_any_number_have_in_common_is_read_for_each_of_them(element):
    Run.of(programs.weighted_columns("40 77", element)).check()


def test_rows_of_a_table_are_read_in_wide_accesses():
    run = Run.of(programs.embedding(50, 64, 40)).check()
    moved = 2 * 40 * 64 * 2  # what is read of the table, and the result
    assert run.bytes_by_width()[16] == moved + 2 * 64 * 2  # and what is added to each row, for each of two CTAs
    sectors, fewest = run.sectors
    assert sectors <= 1.1 * fewest


def test_an_operand_that_is_broadcast_along_rows_is_all_that_is_read_again():
    run = Run.of(programs.layer_norm("8 2048")).check()
    again = 2 * 7 * 2048 * 4  # weight and bias, for each row but one
    assert run.bytes == run.needed + again


def test_a_row_that_fits_no_registers_is_read_by_each_phase():
    run = Run.of(programs.layer_norm("1 65536")).check()
    assert run.bytes == (3 + 1 + 2) * 65536 * 4  # for the mean, the variance and the result; weight and bias


@pytest.mark.parametrize(("shape", "axis"), [("1 65536", 1), ("2 70001", 1), ("3000 96", 0)])
def test_a_maximum_and_the_exponentials_below_it_are_one_pass_over_such_a_row(shape, axis):
    run = Run.of(programs.softmax(shape, "f16", axis)).check()
    assert run.bytes <= 1.001 * (2 + 1) / 2 * run.needed  # two passes, and the result


def test_rows_of_infinities_are_those_of_two_passes():
    model = tinyc.compile(str(one_kernel_program(programs.softmax("M N"))), target="sim")
    rows = np.zeros((8, 3000), np.float32)
    rows[0, ::7], rows[1], rows[2, 5], rows[3, 9] = -np.inf, -np.inf, np.inf, np.nan
    rows[4, :2999], rows[5, 1:], rows[6], rows[7] = -np.inf, -np.inf, np.linspace(-3e38, 3e38, 3000), -3e38
    with np.errstate(invalid="ignore", over="ignore"):
        e = np.exp(rows - rows.max(axis=1, keepdims=True))
        np.testing.assert_allclose(model(rows), e / e.sum(axis=1, keepdims=True), rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("run", [by_threads, sequentially])
@pytest.mark.parametrize(
    "program",
    [
        lambda: programs.softmax("5 77", "bf16"),
        lambda: programs.softmax("3 1001", "f16"),
        lambda: programs.softmax("33 24", axis=0),
        lambda: programs.layer_norm("3 300"),
        lambda: programs.rms_norm("5 301", "f16", "f32"),
        lambda: programs.weighted_columns("9 33", "bf16"),
        lambda: programs.total("70 300", "i8"),
        lambda: programs.symmetric(36),
        lambda: programs.both_ways("40 40", "f16"),
        lambda: programs.bias_residual("9 77", "bf16"),
        lambda: programs.cumulative("3 1001", op="max", reverse=True),
        lambda: programs.cumulative("2 40", reverse=True, exclusive=True, around=True),
        lambda: programs.cumulative("3 20 9", axis=1, exclusive=True),
        lambda: programs.embedding(50, 64, 40),
        lambda: programs.padded_rows("5 64"),
        lambda: programs.padded_rows("5 77"),
    ],
)
def test_threads_and_sequential_code_agree_with_the_reference(program, run):
    whole = program()
    done = Run.of(whole).check()
    module = text.parse(str(one_kernel_program(whole)))
    pipeline.parse("region-to-gpu").run(module)
    done.check(run(module, done.inputs))


LENGTHS = (1, 2, 3, 7, 8, 31, 33, 64, 100, 255, 257, 1000, 1024, 1029, 4097)


@in_turn("length", "element", LENGTHS, ["f16", "f32", "f64", "i32"])
def test_rows_of_any_length_are_reduced(length, element):
    assert Run.of(programs.total(f"5 {length}", element)).check().scheme == "row_reduce"


@pytest.mark.parametrize("op", ["sum", "max", "min", "prod"])
@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "i64", "bf16"])
def test_every_reduction_of_every_type_is_combined_by_lanes(op, element):
    Run.of(programs.total("3 77", element, op=op)).check()
    Run.of(programs.total("77 3", element, axes=(0,), op=op)).check()


@pairwise(length=[2, 7, 33, 64, 257, 1029, 4097], reverse=[False, True], exclusive=[False, True])
def test_rows_of_any_length_are_scanned_either_way(length, reverse, exclusive):
    run = Run.of(programs.cumulative(f"3 {length}", reverse=reverse, exclusive=exclusive)).check()
    assert run.scheme == "scan"


@pytest.mark.parametrize("size", [(0, 4), (4, 0), (1, 1), (3, 5), (6, 64), (33, 130)])
def test_extents_may_be_known_at_a_run_only(size):
    program = programs.softmax("M N")
    model = tinyc.compile(str(one_kernel_program(program)), target="sim")
    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    e = np.exp(x - x.max(axis=1, keepdims=True, initial=-np.inf))
    np.testing.assert_allclose(model(x), e / e.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-6)


def test_an_operand_of_any_alignment_is_moved_to_where_kernels_may_read_it():
    model = tinyc.compile(str(one_kernel_program(programs.gelu("4 64", "f16"))), target="sim")
    memory = np.random.default_rng(0).standard_normal(257).astype(np.float16)
    shifted = memory[1:].reshape(4, 64)
    assert shifted.ctypes.data % 16 != 0
    np.testing.assert_array_equal(model(shifted), model(shifted.copy()))


def test_reports_are_those_of_the_last_run_on_the_simulator():
    source = str(one_kernel_program(programs.gelu("4 64")))
    model = tinyc.compile(source, target="sim")
    assert model.reports == ()
    x = np.zeros((4, 64), np.float32)
    model(x)
    (report,) = model.reports
    assert report.ok
    assert report.counters.bytes["global"] == 2 * x.nbytes
    on_the_cpu = tinyc.compile(source, target="cpu")
    on_the_cpu(x)
    assert on_the_cpu.reports == ()


@pytest.mark.parametrize("width", [1, 2, 4])
def test_a_plan_chooses_how_wide_accesses_are(width):
    for program in (programs.gelu("5 24", "f16"), programs.softmax("5 24", "f16"), programs.cumulative("5 24", "f16")):
        run = Run.of(program, plan={"vectorize": {"axis": "n", "width": width}}).check()
        assert set(run.bytes_by_width()) == {2 * width}


def test_what_is_read_within_one_length_is_read_anew_within_another():
    p = Program(x="f32 6 13")
    y = p.neg(p["x"])
    Run.of(p.result(p.shrink(y, lo=(0, 0), hi=(6, 3), step=(1, 1)), p.sum(y, 1), y)).check()


@pytest.mark.parametrize("length", [130, 514, 1023])
def test_an_operand_of_columns_is_not_read_before_its_beginning(length):
    for element in ("f16", "f32"):
        assert Run.of(programs.rms_norm(f"5 {length}", element)).check().scheme == "row_reduce"


@seeds(15, 40)
def test_random_programs_as_one_kernel_agree_with_the_reference(seed):
    Run.of(windows_program(random.Random(seed))).check()
