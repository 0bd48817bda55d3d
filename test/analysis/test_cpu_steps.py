"""The loops of kernels on a CPU: their forms; steps in tiles or one by one, what they hold, which axes are one loop."""

import pytest

from analysis_programs.region_kernels import matmul, one_kernel
from analysis_programs.tiny_programs import Program
from tinyc.analysis.cpu_form import CpuFormChoice, cpu_form
from tinyc.analysis.cpu_product import CpuProduct
from tinyc.analysis.cpu_steps import CpuSteps, merged_axes
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.analysis.loop_nest import BlockNest, ElementNest, LoopNest, StepNest
from tinyc.dialects.registry import context
from tinyc.target import GENERIC_CPU


def nest_of(p: Program) -> LoopNest:
    with context():
        return one_kernel(p).nest


def steps_of(p: Program) -> CpuSteps:
    nest = nest_of(p)
    assert isinstance(nest, StepNest)
    return nest.steps


def form_of(p: Program) -> CpuFormChoice:
    with context():
        kernel = kernel_loops(one_kernel(p).op)
    return cpu_form(kernel if isinstance(kernel, str) else kernel.loops, GENERIC_CPU)


def groups(p: Program) -> list[tuple[int, ...]]:
    """The extents of the loops inside of the last phase: merged axes as their product."""
    steps = steps_of(p)
    phase = steps.loops.phases[-1]
    shape = phase.block.statement.shape
    found = merged_axes(steps.kernel, phase, phase.inner or phase.reduced)
    return [tuple(shape[axis] for axis in group) for group in found]


@pytest.mark.parametrize(
    ("axis", "in_tiles", "turns"),
    [(0, True, 3), (1, False, 200)],
)
def test_columns_are_reduced_in_tiles_and_rows_one_by_one(axis, in_tiles, turns):
    p = Program(x="f32 200 300")
    p.result(p.sum(p["x"], axis))
    steps = steps_of(p)
    assert steps.in_tiles == in_tiles
    assert nest_of(p).turns == turns


@pytest.mark.parametrize(("extents", "windows"), [("4 4", [(4, 4)]), ("26 1", []), ("1 1", []), ("K 2", [])])
def test_few_terms_in_a_tile_of_neighbours_are_written_out(extents, windows):
    p = Program(x=f"f32 {extents} 300")
    p.result(p.sum(p["x"], 0, 1))
    steps = steps_of(p)
    assert steps.in_tiles
    assert list(steps.windows.values()) == windows


def test_a_product_runs_in_tiles_of_rows_and_columns():
    p = Program(a="f32 400 300", b="f32 300 600")
    p.result(matmul(p, p["a"], p["b"], "400 600 300"))
    nest = nest_of(p)
    assert isinstance(nest, CpuProduct)
    assert nest.tiles == (1, 10)
    assert (nest.rows.lines, nest.columns.lines, nest.depth) == (400, 600, 300)
    assert (nest.rows.most, nest.columns.most, nest.panel_depth) == (400, 64, 300)


@pytest.mark.parametrize(
    ("rows", "columns", "is_turned", "tiles"),
    [
        (64, 100, False, (1, 4)),
        (256, 256, False, (1, 4)),
        (512, 49, False, (2, 1)),
        (672, 16, False, (2, 1)),
        (64, 0, False, (1, 0)),
        (128, 768, False, (1, 8)),  # not 3, which two threads take as long for as for 4
        (256, 256, True, (1, 2)),
    ],
)
def test_a_few_tiles_are_an_even_number_of_them(rows, columns, is_turned, tiles):
    p = Program(a=f"f32 128 {rows}" if is_turned else f"f32 {rows} 128", b=f"f32 128 {columns}")
    a = p.permute(p["a"], perm=(1, 0)) if is_turned else p["a"]
    p.result(matmul(p, a, p["b"], f"{rows} {columns} 128"))
    nest = nest_of(p)
    assert isinstance(nest, CpuProduct)
    assert nest.tiles == tiles
    assert nest.turns % 2 == 0


@pytest.mark.parametrize(
    ("rows", "is_transposed", "is_in_place"),
    [(4, False, True), (16, False, False), (64, False, False), (64, True, False)],
)
def test_few_rows_read_the_right_operand_where_it_is(rows, is_transposed, is_in_place):
    p = Program(a=f"f32 {rows} 300", b="f32 600 300" if is_transposed else "f32 300 600")
    right = p.permute(p["b"], perm=(1, 0)) if is_transposed else p["b"]
    p.result(matmul(p, p["a"], right, f"{rows} 600 300"))
    nest = nest_of(p)
    assert isinstance(nest, CpuProduct)
    assert nest.reads_right_in_place == is_in_place


@pytest.mark.parametrize(
    ("left", "right", "is_in_place", "is_transposed"),
    [
        ("f32 640 50", "f32 50 40", True, False),
        ("f32 640 50", "f32 40 50", True, True),
        ("f32 50 640", "f32 50 40", False, False),
        ("f16 640 50", "f16 50 40", False, None),  # what is cast on the way is packed in the type of the sums
    ],
)
def test_rows_along_the_sum_are_read_in_place_and_a_whole_right_operand_is_a_matrix(
    left, right, is_in_place, is_transposed
):
    p = Program(a=left, b=right)
    a = p["a"] if left.endswith("640 50") else p.permute(p["a"], perm=(1, 0))
    b = p["b"] if right.endswith("50 40") else p.permute(p["b"], perm=(1, 0))
    p.result(matmul(p, a, b, "640 40 50"))
    nest = nest_of(p)
    assert isinstance(nest, CpuProduct)
    assert nest.reads_left_in_place == is_in_place
    found = nest.right_matrix
    assert (None if found is None else found[1].is_transposed) == is_transposed


@pytest.mark.parametrize(
    ("batch", "places", "rows", "columns"),
    [("B", 7, 64, "49*B"), ("B", 2, 64, "4*B"), ("B", 8, 64, "64*B"), (2, 7, 64, 98), (31, 2, 64, 124)],
)
def test_the_places_of_all_images_are_rows_or_columns_together(batch, places, rows, columns):
    shape = f"{batch} 64 32 {places} {places}"
    p = Program(x=f"f32 {batch} 32 {places} {places}", w="f32 64 32")
    x = p.expand(p["x"], shape=shape, broadcast_dimensions=(0, 2, 3, 4))
    w = p.expand(p["w"], shape=shape, broadcast_dimensions=(1, 2))
    p.result(p.sum(p.mul(x, w), 2))
    nest = nest_of(p)
    assert isinstance(nest, CpuProduct)
    assert (str(nest.rows.lines), str(nest.columns.lines)) == (str(rows), str(columns))


@pytest.mark.parametrize(("rows", "has_tiles"), [(31, False), (32, True)])
def test_few_rows_are_computed_one_by_one_where_columns_would_be_transposed(rows, has_tiles):
    p = Program(a=f"f32 {rows} 300", b="f32 300 400")
    p.result(matmul(p, p["a"], p["b"], f"{rows} 400 300"))
    assert isinstance(nest_of(p), CpuProduct)
    p = Program(a=f"f32 {rows} 300", b="f32 400 300")
    p.result(matmul(p, p["a"], p.permute(p["b"], perm=(1, 0)), f"{rows} 400 300"))
    assert isinstance(nest_of(p), CpuProduct) == has_tiles


def test_what_is_reduced_is_one_loop_where_it_lies_in_memory_as_one():
    p = Program(x="f32 4 3 5 7")
    assert groups(p.result(p.sum(p["x"], 1, 2, 3))) == [(3, 5, 7)]
    p = Program(x="f32 4 3 5 7")
    assert groups(p.result(p.sum(p.permute(p["x"], perm=(0, 2, 1, 3)), 1, 2, 3))) == [(5,), (3,), (7,)]
    p = Program(x="f32 4 3 H W")
    assert [len(group) for group in groups(p.result(p.sum(p["x"], 1, 2, 3)))] == [3]


def test_axes_that_one_operand_has_apart_are_apart():
    p = Program(x="f32 4 3 5 7", w="f32 3")
    weights = p.expand(p["w"], shape="4 3 5 7", broadcast_dimensions=(1,))
    assert groups(p.result(p.sum(p.mul(p["x"], weights), 1, 2, 3))) == [(3,), (5, 7)]


def test_axes_that_a_guard_is_about_are_apart():
    p = Program(x="f32 4 3 5")
    padded = p.pad(p["x"], lo=(0, 0, 1), hi=(0, 0, 0), value=1.0)
    assert groups(p.result(p.op("reduce", padded, op="prod", axes=(1, 2), element="f32"))) == [(3,), (6,)]


def shifted_sums(extent: int) -> Program:
    """Sums along a middle axis that are read at their neighbours' places, too."""
    p = Program(x=f"f32 4 {extent} 3 300")
    total = p.sum(p["x"], 2)
    return p.result(p.add(total, p.flip(total, axes=(1,))))


def test_tiles_whose_rows_do_not_fit_give_way_to_single_steps():
    found = {
        extent: steps_of(shifted_sums(extent))
        for extent in (GENERIC_CPU.step_bytes // 512, GENERIC_CPU.step_bytes // 512 + 1)
    }
    assert [steps.in_tiles for steps in found.values()] == [True, False]


def test_rows_that_do_not_fit_are_not_held():
    extent = GENERIC_CPU.step_bytes // 4 + 1
    p = Program(x=f"f32 2 {extent} 3")
    total = p.sum(p["x"], 2)
    p.result(p.add(total, p.flip(total, axes=(1,))))
    assert form_of(p).reason == f"a step holds {4 * extent} bytes; the limit is {GENERIC_CPU.step_bytes}"
    p = Program(x="f32 2 N 3")
    total = p.sum(p["x"], 2, name="total")
    p.result(p.add(total, p.flip(total, axes=(1,))))
    assert form_of(p).reason.startswith("a step reads N elements of '")
    assert isinstance(nest_of(p), ElementNest)


def test_results_that_share_all_loops_are_computed_together_and_others_each_by_itself():
    p = Program(x="f32 20 30")
    p.result(p.neg(p["x"]), p.permute(p["x"], perm=(1, 0)))
    nest = nest_of(p)
    assert isinstance(nest, BlockNest)
    assert (nest.steps.loops.extents, nest.sides, nest.blocks) == ((30, 20), (0, 1), (2, 2))
    p = Program(x="f32 20 30")
    p.result(p.neg(p["x"]), p.flip(p["x"], axes=(0,)))
    assert form_of(p).reason == "no phase reduces, and 'v1' has other loops than the others"
    assert nest_of(p) == ElementNest((20,), (20, 30))
