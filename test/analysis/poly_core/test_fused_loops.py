"""Fused loops: the steps of a kernel with several reductions and results, and that isl calls them legal."""

import random

from analysis_programs.group_programs import windows_program
from analysis_programs.poly_programs import softmax
from analysis_programs.tiny_programs import Program
from parameters import seeds
from tinyc.analysis.kernel_loops import kernel_loops
from tinyc.analysis.poly.block import with_producers
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import can_compute_at
from tinyc.analysis.poly_core.fused_loops import FusedLoops, fused_loops
from tinyc.dialects.registry import context


def loops_of(program):
    """The fused loops of a whole program."""
    with context():
        view = poly_view(program.function.opview, fine=True)
        return fused_loops(view.blocks, set(view.outputs))


def phases_of(loops):
    """The phases as (name, extents of the inner axes, extents of the reduced axes)."""
    return [(phase.block.name, phase.inner_extents, phase.reduced_extents) for phase in loops.phases]


def spread(p, value, shape, where):
    return p.expand(value, shape=shape, broadcast_dimensions=where)


def group_norm():
    """The normalisation of [2, 8, 5, 7] in 4 groups of channels, by a reshape and back, and a weight a channel."""
    p = Program(x="f32 2 8 5 7", w="f32 8")
    rows = p.reshape(p["x"], shape="2 4 70")
    mean = p.sum(rows, 2, name="mean")
    centred = p.sub(rows, spread(p, mean, "2 4 70", (0, 1)))
    square = p.sum(p.mul(centred, centred), 2, name="square")
    scaled = p.mul(centred, spread(p, p.rsqrt(square), "2 4 70", (0, 1)))
    weights = spread(p, p["w"], "2 8 5 7", (1,))
    return p.result(p.mul(p.reshape(scaled, shape="2 8 5 7"), weights, name="y"))


def test_a_softmax_has_one_loop_over_its_rows_and_three_phases():
    loops = loops_of(softmax("6 5"))
    assert loops.extents == (6,)
    assert phases_of(loops) == [("most", (), (5,)), ("total", (), (5,)), ("y", (5,), ())]


def test_a_group_norm_has_loops_over_parts_of_a_dimension():
    loops = loops_of(group_norm())
    assert loops.extents == (2, 4)
    assert phases_of(loops) == [("mean", (), (2, 5, 7)), ("square", (), (2, 5, 7)), ("y", (2, 5, 7), ())]


def test_reductions_and_results_that_read_one_input_share_its_rows():
    p = Program(x="f32 6 5")
    total, most = (
        p.sum(p["x"], 1, name="total"),
        p.op("reduce", p["x"], op="max", axes=(1,), element="f32", name="most"),
    )
    loops = loops_of(p.result(total, most, p.neg(p["x"], name="y")))
    assert loops.extents == (6,)
    assert phases_of(loops) == [("total", (), (5,)), ("most", (), (5,)), ("y", (5,), ())]


def test_sums_over_rows_and_over_columns_share_no_loop():
    p = Program(x="f32 6 5")
    loops = loops_of(p.result(p.sum(p["x"], 0, name="columns"), p.sum(p["x"], 1, name="rows")))
    assert loops.extents == ()
    assert phases_of(loops) == [("columns", (5,), (6,)), ("rows", (6,), (5,))]


def test_sums_of_the_same_parts_of_an_operand_share_them_as_a_loop():
    p = Program(x="f32 50 16")
    parts = p.reshape(p.shrink(p["x"], lo=(0, 0), hi=(48, 16), step=(1, 1)), shape="3 16 16")
    loops = loops_of(p.result(p.sum(parts, 1), p.op("reduce", parts, op="max", axes=(1,), element="f32")))
    assert loops.extents == (3, 16)


def test_results_that_have_nothing_in_common_share_loops_of_the_same_extents():
    p = Program(x="f32 7 16", y="f32 7 16")
    assert loops_of(p.result(p.sum(p["x"], 0), p.sum(p["y"], 0))).extents == (16,)
    p = Program(x="f32 7 16", y="f32 7 15")
    assert loops_of(p.result(p.sum(p["x"], 0), p.sum(p["y"], 0))).extents == ()


def test_an_axis_along_which_a_neighbour_is_read_is_no_loop_but_an_inner_axis():
    p = Program(x="f32 6 5 4")
    total = p.sum(p["x"], 2, name="total")
    shifted = p.pad(p.shrink(total, lo=(0, 1), hi=(6, 5), step=(1, 1)), lo=(0, 0), hi=(0, 1), value=0.0)
    loops = loops_of(p.result(p.add(total, shifted, name="y")))
    assert loops.extents == (6,)
    assert phases_of(loops) == [("total", (5,), (4,)), ("y", (5,), ())]
    assert [loops.held_elements(phase) for phase in loops.phases] == [5, 0]


def test_a_transposed_result_shares_the_loops():
    p = Program(x="f32 6 5")
    y = p.sub(p["x"], spread(p, p.sum(p["x"], 1, name="total"), "6 5", (0,)))
    loops = loops_of(p.result(p.permute(y, perm=(1, 0), name="t")))
    assert loops.extents == (6,)
    assert phases_of(loops) == [("total", (), (5,)), ("t", (5,), ())]


def test_a_chain_of_element_wise_ops_is_one_phase_whatever_its_length():
    p = Program(x="f32 6 5")
    value = p["x"]
    for _ in range(500):
        value = p.add(value, p["x"])
    loops = loops_of(p.result(value))
    assert loops.extents == (6, 5)
    assert [len(phase.block.accesses) for phase in loops.phases] == [1]


def test_what_reads_too_many_tensors_has_no_loops():
    p = Program(**{f"x{number}": "f32 4" for number in range(70)})
    value = p["x0"]
    for number in range(1, 70):
        value = p.add(value, p[f"x{number}"])
    assert loops_of(p.result(value)) == "'v68' reads more than 64 elements through element-wise blocks"


@seeds(20, 60)
def test_isl_calls_the_steps_of_random_programs_legal(seed):
    loops = loops_of(windows_program(random.Random(seed)))
    assert isinstance(loops, FusedLoops)
    blocks = {block.name: block for block in with_producers([phase.block for phase in loops.phases])}
    for phase in loops.phases:
        consumer = blocks[phase.block.name]
        tile = {consumer.statement.axes[axis]: 1 for axis in phase.loops}
        for tensor in dict.fromkeys(read.tensor for read in consumer.accesses if read.tensor in blocks):
            assert can_compute_at(blocks[tensor], consumer, tile).ok


def test_the_phases_of_a_kernel_know_their_values():
    program = softmax("6 5")
    with context():
        found = kernel_loops(program.function.opview)
        assert not isinstance(found, str)
        assert [str(found.value(phase).owner.name) for phase in found.loops.phases] == [
            "tiny.reduce",
            "tiny.reduce",
            "tiny.mul",
        ]


def test_what_is_returned_as_it_is_read_is_a_phase():
    p = Program(x="f32 6 5")
    with context():
        found = kernel_loops(p.result(p["x"]).function.opview)
        assert not isinstance(found, str)
        (phase,) = found.loops.phases
        assert found.loops.extents == (6, 5)
        assert found.value(phase) == p["x"]


def test_what_reads_a_reduction_where_its_data_says_has_no_loops():
    p = Program(x="f32 6 5", i="i64 6")
    total = p.sum(p["x"], 1, name="total")
    with context():
        found = kernel_loops(p.result(p.relu(p.gather(total, p["i"], axis=0, name="g"))).function.opview)
    assert found == "'g' reads 'total' as a whole: 'tiny.gather' reads where its data says"
