"""The analysis of a candidate: dependences, axes, tails, closure and hints."""

import dataclasses

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_programs.poly_blocks import axes_of, block, conv, copy_of, read
from analysis_programs.poly_programs import scan, softmax
from analysis_programs.tiny_programs import gemm_bias_relu
from tinyc.analysis.poly.view import poly_view
from tinyc.analysis.poly_core import ShapeSet, analyze
from tinyc.analysis.poly_core.hints import bank_hint, column_addresses, conflict_ways, row_addresses
from tinyc.analysis.poly_core.partial_tiles import tail_exists, tail_exists_by_isl
from tinyc.dialects.registry import context
from tinyc.expr import axes, extents
from tinyc.expr.extents import symbol
from tinyc.expr.isl import functions
from tinyc.target import SM80, SM90

M, N, K = symbol("M"), symbol("N"), symbol("K")
TILE = {"m": 128, "n": 64, "k": 32}


def analysis_of(program, *args, **kwargs):
    with context():
        return analyze(poly_view(program.function), *args, **kwargs)


# --- Dependences and axes ---------------------------------------------------------------------------------------------


def flow(blocks):
    """Return the true dependences that isl's data flow finds where the blocks run one after the other."""
    reads, writes, schedule = isl.UnionMap("{}"), isl.UnionMap("{}"), isl.UnionMap("{}")
    for number, each in enumerate(blocks):
        box, statement = isl.Set(each.domain_text), each.statement
        write = isl.Map(statement.access_text(each.name, each.write))
        writes = writes.union(write.intersect_domain(box).to_union_map())
        for access in each.accesses:
            reads = reads.union(isl.Map(each.access_text(access)).intersect_domain(box).to_union_map())
        row, column = (*statement.axes, "0")[:2]
        schedule = schedule.union(isl.UnionMap(f"{{ {statement.tuple_text} -> [{number}, {row}, {column}] }}"))
    info = isl.UnionAccessInfo.from_sink(reads).set_may_source(writes).set_schedule_map(schedule)
    return info.compute_flow().get_may_dependence()


def test_dependences_of_a_softmax_are_those_of_isl_s_flow():
    program = softmax()
    with context():
        view = poly_view(program.function)
    boxes, found = isl.UnionSet("{}"), isl.UnionMap("{}")
    for each in view.blocks:
        boxes = boxes.union(isl.UnionSet(each.domain_text))
    for each in analyze(view).dependences:
        found = found.union(isl.UnionMap(each.relation)) if each.kind == "true" else found
    assert found.intersect_domain(boxes).intersect_range(boxes).is_equal(flow(view.blocks))


def test_a_sum_depends_on_itself_and_its_parallel_axes_have_no_distance():
    shape = (M, N, K)
    m, n, k = axes_of(shape)
    each = block("y", "m n k", shape, read("x", m, k), read("w", k, n), reduced="k", kind="contraction_pattern")
    found = analyze([each])
    (own,) = found.dependences
    assert (own.kind, own.source, own.target) == ("output", "y", "y")
    deltas = isl.Map(own.relation).deltas()
    still = [deltas.dim_max_val(p).is_zero() and deltas.dim_min_val(p).is_zero() for p in range(3)]
    assert still == [name in found.parallel["y"] for name in ("m", "n", "k")] == [True, True, False]
    assert found.reduce["y"] == ("k",)


def test_blocks_that_share_memory_have_anti_and_output_dependences():
    (i,) = axes_of((8,))
    a, b = copy_of("input", "a", "i", (8,)), block("b", "i", (8,), read("input", i))
    shared = [dataclasses.replace(each, buffer="arena") for each in (a, b)]
    reader = block("c", "i", (8,), read("a", i))
    kinds = {(each.kind, each.source, each.target) for each in analyze([shared[0], reader, shared[1]]).dependences}
    assert kinds == {("true", "a", "c"), ("anti", "c", "b"), ("output", "a", "b")}


def test_the_running_example_has_two_common_loops_and_one_sum():
    found = analysis_of(gemm_bias_relu(), TILE)
    assert [set(loop.values()) for loop in found.loops] == [{"m"}, {"n"}]
    assert found.reduce["Y_fp32"] == ("k",)
    assert {buffer.buffer for buffer in found.buffers.values()} == {"reg"}
    assert not found.not_affine


def test_a_tile_of_an_axis_that_no_block_has_is_refused():
    with pytest.raises(ValueError, match="no block has an axis 'j'; there are m, n, k"):
        analysis_of(gemm_bias_relu(), {"m": 128, "j": 64})
    with pytest.raises(ValueError, match="no block has an axis 'm'; there are none"):
        analyze([], {"m": 128})


def test_blocks_that_are_not_in_program_order_are_refused():
    program = gemm_bias_relu()
    with context():
        blocks = poly_view(program.function).blocks
    with pytest.raises(ValueError, match=r"reads '.*', which comes later; pass the blocks in program order"):
        analyze(blocks[::-1])


@pytest.mark.parametrize("size", [0, -1, 1.5, True])
def test_a_tile_that_is_no_positive_whole_number_is_refused(size):
    with pytest.raises(ValueError, match=f"tile {size} of axis m of 'Yb' is not a whole number in 1"):
        analysis_of(gemm_bias_relu(), {"m": size})


def test_a_scan_is_not_parallel_along_its_axis():
    found = analysis_of(scan())
    (only,) = found.parallel["running"]
    assert [loop["running"] for loop in found.loops] == [only]


def test_composition_that_is_too_complicated_names_the_block_and_the_counts():
    size = 2**14
    (i,) = axes_of((size,))
    blocks, tensor = [], "x"
    for number, divisor in enumerate((3, 5, 7, 11)):
        row = axes.floordiv_within(i * 2 + 1, divisor, (size,))
        blocks.append(block(f"b{number}", "i", (size,), read(tensor, row)))
        tensor = f"b{number}"
    assert not analyze(blocks[:2]).not_affine
    found = analyze(blocks)
    counts = "pad guards 0 of 16, pieces 1 of 32, floor divisions 4 of 8, their nesting 4 of 3"
    assert found.not_affine == {"b3": f"ExcessivePiecewise: the access to 'x' is over a limit: {counts}"}


# --- Tails ------------------------------------------------------------------------------------------------------------


def test_tails_are_conditions_on_the_symbols():
    found = analysis_of(gemm_bias_relu(), TILE)
    assert {tail.condition for tail in found.tails} == {"M mod 128 != 0", "N mod 64 != 0", "K mod 32 != 0"}


def test_a_shape_set_proves_a_tail_empty():
    found = analysis_of(gemm_bias_relu(), TILE, ShapeSet({"M": 256, "K": 16}))
    exists = {tail.axis: tail.exists for tail in found.tails}
    assert exists == {"m": "never", "n": "sometimes", "k": "sometimes"}


@pytest.mark.parametrize(
    ("extent", "exists"), [("256", "never"), ("200", "always"), ("2*M + 1", "always"), ("128*M", "never")]
)
def test_a_tail_may_not_depend_on_the_sizes(extent, exists):
    assert tail_exists(extents.parse_extent(extent), 128, ShapeSet()) == exists


def test_tails_of_quotients_are_isl_s_to_decide(monkeypatch):
    half = extents.parse_extent("(M - 1) floordiv 2 + 1")
    assert tail_exists(half, 4, ShapeSet()) == "sometimes"
    assert tail_exists(half, 4, ShapeSet({"M": 8})) == "never"
    monkeypatch.setattr(functions, "MAX_OPERATIONS", 5)
    assert tail_exists(half, 4, ShapeSet({"M": 8})) == "unproved"


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["M", "N", "M*N", ""]), st.integers(1, 12)), min_size=1, max_size=3),
    st.integers(1, 24),
    st.dictionaries(st.sampled_from(["M", "N"]), st.integers(1, 12)),
)
def test_the_closed_form_of_a_tail_is_isl_s(terms, size, multiples):
    extent = extents.parse_extent(" + ".join(f"{factor}*{name}" if name else str(factor) for name, factor in terms))
    shapes = ShapeSet(multiples)
    assert tail_exists(extent, size, shapes) == tail_exists_by_isl(extent, size, shapes)


# --- Hints ------------------------------------------------------------------------------------------------------------


def test_bank_conflicts_of_known_layouts():
    assert conflict_ways(column_addresses(128), 4, SM80) == 32
    assert conflict_ways(column_addresses(33 * 4), 4, SM80) == 1
    assert conflict_ways(row_addresses(128), 16, SM80) == 8
    assert conflict_ways(row_addresses(144), 16, SM80) == 1
    assert conflict_ways(row_addresses(128, swizzled=True), 16, SM80) == 1


def test_wide_accesses_go_by_half_and_quarter_warps():
    for width in (4, 8, 16):
        assert conflict_ways([lane * width for lane in range(32)], width, SM80) == 1
    assert conflict_ways([lane * 16 for lane in range(32)], 4, SM80) == 4


@pytest.mark.parametrize("pattern", ["ldmatrix", "column"])
@pytest.mark.parametrize("pitch", range(16, 600, 16))
def test_the_padded_pitch_has_no_conflicts_and_is_the_least(pattern, pitch):
    unit = 16 if pattern == "ldmatrix" else 4
    found = bank_hint("x", pattern, pitch, SM80)
    assert bank_hint("x", pattern, found.padded_pitch_bytes, SM80).ways == 1
    assert all(bank_hint("x", pattern, each, SM80).ways > 1 for each in range(pitch, found.padded_pitch_bytes, unit))


def test_pitches_are_those_that_a_pattern_can_read():
    assert bank_hint("x", "ldmatrix", 382, SM80) == bank_hint("x", "ldmatrix", 384, SM80)
    assert bank_hint("x", "column", 130, SM80).pitch_bytes == 132


def test_operands_in_16_bits_are_read_by_ldmatrix():
    found = analysis_of(gemm_bias_relu(), TILE)
    assert {(hint.tensor, hint.pattern, hint.pitch_bytes, hint.ways) for hint in found.banks} == {
        ("X", "ldmatrix", 64, 4),
        ("W", "ldmatrix", 128, 8),
    }
    assert "144" in next(hint.remedy for hint in found.banks if hint.tensor == "W")


def test_blocks_alone_take_the_element_types_of_what_no_block_makes_from_the_caller():
    program = gemm_bias_relu()
    with context():
        view = poly_view(program.function)
    assert analyze(view.blocks, TILE).banks == ()
    assert analyze(view.blocks, TILE, elements=view.elements).banks == analyze(view, TILE).banks


@pytest.mark.parametrize(
    ("target", "copied", "passed"), [(SM80, "commit/wait", "barrier"), (SM90, "mbarrier", "mbarrier")]
)
def test_what_passes_through_shared_memory_is_waited_for(target, copied, passed):
    found = analysis_of(gemm_bias_relu(), TILE, target=target)
    assert {(hint.kind, hint.tensor) for hint in found.barriers} == {(copied, "X"), (copied, "W")}
    x, y = conv(3, 1, 1)
    (barrier,) = analyze([x, y], {"oh": 8, "ow": 16}, target=target).barriers
    assert (barrier.kind, barrier.tensor, barrier.consumer) == (passed, "x", "y")
