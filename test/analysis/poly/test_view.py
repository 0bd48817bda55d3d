"""The Poly-View of a function; sets and maps are compared by isl, as sets and maps."""

import random
import subprocess
import sys

import islpy as isl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_programs.movement_chains import random_chain
from analysis_programs.scan_programs import FORMS, cumulative
from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.isl.polyhedra import Polyhedra
from tinyc.analysis.isl.statement import Statement, isl_identifier
from tinyc.analysis.poly.block import NonScopTensor, PolyBlock
from tinyc.analysis.poly.view import PolyView, poly_view
from tinyc.dialects.registry import context
from tinyc.expr import extents
from tinyc.expr.isl import TooHard
from tinyc.expr.isl.functions import bounded
from tinyc.vocabulary.types import TensorType


def view_of(program: Program) -> PolyView:
    with context():
        return poly_view(program.function)


def block_of(program: Program, name: str) -> PolyBlock:
    (block,) = (block for block in view_of(program).blocks if block.name == name)
    return block


def accesses(block: PolyBlock) -> list[isl.Map]:
    return [isl.Map(block.statement.access_text(a.tensor, a.index, a.guards)) for a in block.accesses]


def test_the_running_example_is_one_contraction_with_its_epilogue():
    view = view_of(gemm_bias_relu())
    kinds = [(block.name, block.kind) for block in view.blocks]
    assert kinds == [
        ("Y_fp32", "contraction_pattern"),
        ("v3", "ewise"),
        ("Yb", "ewise"),
        ("Yr", "ewise"),
        ("Y", "ewise"),
    ]


def test_the_contraction_of_the_running_example():
    block = block_of(gemm_bias_relu(), "Y_fp32")
    domain = "[M, N, K] -> { Y_fp32[m, n, k] : 0 <= m < M and 0 <= n < N and 0 <= k < K }"
    assert isl.Set(block.statement.domain_text).is_equal(isl.Set(domain))
    assert block.statement.axes == ("m", "n", "k")
    expected = ["{ Y_fp32[m, n, k] -> X[m, k] }", "{ Y_fp32[m, n, k] -> W[k, n] }"]
    assert all(a.is_equal(isl.Map(b)) for a, b in zip(accesses(block), expected, strict=True))
    assert block.attributes == {
        "lhs_idx": ["m", "k"],
        "rhs_idx": ["k", "n"],
        "out_idx": ["m", "n"],
        "reduce_idx": ["k"],
        "batch_idx": [],
        "pattern": "matmul",
        "form": "matrix",
        "affine_offsets": [],
    }


def test_the_bias_is_read_along_its_one_axis():
    (access,) = accesses(block_of(gemm_bias_relu(), "v3"))
    assert access.is_equal(isl.Map("{ v3[m, n] -> bias[n] }"))


def test_an_edge_maps_the_instances_that_write_to_those_that_read():
    (edge,) = (edge for edge in view_of(gemm_bias_relu()).edges if edge.source.name == "Y_fp32")
    (dependence,) = edge.maps("true")
    text = "[M, N, K] -> { Y_fp32[m, n, k] -> Yb[m, n] }"
    assert dependence.is_equal(isl.Map(text))


def test_a_padded_read_is_an_access_on_part_of_the_domain():
    p = Program(x="f32 M")
    p.result(p.relu(p.pad(p["x"], lo=(1,), hi=(1,), value=2.0), name="y"))
    block = block_of(p, "y")
    (access,) = accesses(block)
    assert access.is_equal(isl.Map("[M] -> { y[i] -> x[i - 1] : 1 <= i <= M }"))
    (pad,) = block.pads
    assert (pad["access"], pad["value"]) == (0, 2.0)
    assert isl.Set(pad["inside"]).is_equal(isl.Set("[M] -> { y[i] : 1 <= i <= M }"))


def test_a_division_is_an_isl_floor():
    p = Program(x="f32 4 M 3")
    p.result(p.relu(p.view(p["x"], shape="12 M", map=view_map("i0 floordiv 3", "i1", "i0 mod 3")), name="y"))
    block = block_of(p, "y")
    text = block.statement.access_text("x", block.accesses[0].index)
    assert "floor(i0/3)" in text
    (access,) = accesses(block)
    box = isl.Set(block.statement.domain_text)
    expected = isl.Map("[M] -> { y[i, m] -> x[j, m, k] : i = 3j + k and 0 <= k < 3 }")
    assert access.intersect_domain(box).is_equal(expected.intersect_domain(box))


def view_map(*rows):
    from tinyc.expr.index_map import parse_row

    return tuple(parse_row(row, 2) for row in rows)


def test_a_movement_is_a_block_where_it_is_an_output():
    p = Program(x="f32 M N")
    p.result(p.permute(p["x"], perm=(1, 0), name="y"))
    assert block_of(p, "y").kind == "movement_affine"


def test_a_reshape_that_is_not_affine_is_a_tensor():
    p = Program(x="f32 M N")
    p.result(p.relu(p.reshape(p["x"], shape="N M", name="flat"), name="y"))
    tensor, block = view_of(p).items
    assert isinstance(tensor, NonScopTensor)
    assert "symbolic stride" in tensor.reason
    assert [access.tensor for access in block.accesses] == ["flat"]


def test_a_reshape_of_symbolic_sizes_is_affine_between_the_factors():
    p = Program(x="f32 M N")
    p.result(p.relu(p.reshape(p["x"], shape="M*N", name="flat"), name="y"))
    (block,) = view_of(p).items
    assert block.domain_text == "[M, N] -> { y[m, n] : 0 <= m < M and 0 <= n < N }"
    assert [block.access_text(access) for access in block.accesses] == ["[M, N] -> { y[m, n] -> x[m, n] }"]


def pads(value, count: int, program: Program):
    """Pad by 1 on both sides, `count` times, by another value each."""
    for number in range(count):
        value = program.pad(value, lo=(1,), hi=(1,), value=float(number), name=f"p{number}")
    return value


def test_a_chain_that_is_too_much_for_one_access_is_materialised_in_between():
    p = Program(x="f32 M")
    view = view_of(p.result(p.neg(pads(p["x"], 40, p), name="y")))
    first, *rest = view.blocks
    assert [block.kind for block in view.blocks] == ["movement_affine"] * (len(view.blocks) - 1) + ["ewise"]
    counts = "pad guards 16 of 16, pieces 33 of 32, floor divisions 0 of 8, their nesting 0 of 3"
    reason = f"ExcessivePiecewise: the access through '{first.name}' is over a limit: {counts}"
    assert first.attributes["materialized"] == reason
    assert [access.tensor for access in rest[-1].accesses] == [view.blocks[-2].name]


def test_an_access_that_is_too_much_by_itself_is_a_tensor_with_its_counts():
    p = Program(x="f32 " + "2 " * 17)
    p.result(p.neg(p.pad(p["x"], lo=(1,) * 17, hi=(1,) * 17, value=0.0), name="y"))
    (tensor,) = view_of(p).items
    counts = "pad guards 17 of 16, pieces 35 of 32, floor divisions 0 of 8, their nesting 0 of 3"
    reason = f"ExcessivePiecewise: the access to 'x' is over a limit: {counts}"
    assert tensor == NonScopTensor("y", reason, ("x",))


def test_building_a_view_loads_no_isl():
    program = """
import sys
from tinyc import text
from tinyc.analysis.graphs import main_function
from tinyc.analysis.index_book.book import index_book
from tinyc.analysis.poly.view import poly_view
module = text.parse(sys.stdin.read())
with module.context:
    function = main_function(module)
    index_book(function)
    texts = [edge.texts("true") for edge in poly_view(function).edges]
assert len(texts) == 4
assert "islpy" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], input=str(gemm_bias_relu().module), text=True, check=True)


def test_data_dependent_ops_are_tensors_and_what_they_read_is_there():
    p = Program(x="f32 M N", i="i64 4")
    transposed = p.permute(p["x"], perm=(1, 0), name="t")
    p.result(p.gather(transposed, p["i"], axis=0, name="y"))
    assert [(item.name, isinstance(item, PolyBlock)) for item in view_of(p).items] == [("t", True), ("y", False)]


def test_a_data_dependent_op_reads_its_operands_once_each():
    p = Program(x="f32 M M", i="i64 4")
    p.result(p.gather(p.relu(p["x"], name="a"), p["i"], axis=0, name="y"))
    tensor = view_of(p).items[-1]
    assert isinstance(tensor, NonScopTensor)
    assert tensor.reads == ("a", "i")


def test_the_outputs_are_tensors_in_the_order_in_which_they_are_returned():
    p = Program(x="f32 M")
    a = p.relu(p["x"], name="a")
    assert view_of(p.result(p.neg(a, name="b"), p["x"], a, a)).outputs == ("b", "x", "a", "a")


def test_a_block_has_the_element_type_of_its_value():
    p = Program(x="f16 M N")
    p.result(p.sum(p.relu(p["x"], name="a"), 1, element="f64", name="y"))
    assert [(block.name, block.element) for block in view_of(p).blocks] == [("a", "f16"), ("y", "f64")]


def test_what_no_output_needs_has_no_block():
    p = Program(x="f32 M")
    p.relu(p["x"], name="dead")
    p.result(p.neg(p["x"], name="y"))
    assert [block.name for block in view_of(p).blocks] == ["y"]


def test_windows_of_a_convolution():
    p = Program(x="f16 8 32", w="f16 4 8 3")
    windows = p.pool(p.pad(p["x"], lo=(0, 1), hi=(0, 1), value=0.0), kernel=(3,), stride=(2,), dilation=(1,))
    left = p.expand(windows, shape="4 8 16 3", broadcast_dimensions=(1, 2, 3))
    right = p.expand(p["w"], shape="4 8 16 3", broadcast_dimensions=(0, 1, 3))
    p.result(p.sum(p.mul(left, right), 1, 3, name="y"))
    attributes = block_of(p, "y").attributes
    assert attributes["pattern"] == "conv"
    numbers = {"stride": 2, "dilation": 1, "pad": 1}
    assert attributes["affine_offsets"] == [{"operand": "lhs", "axis": 1, "outer": "i2", "kernel": "i3", **numbers}]


def scanned(before: int, after: int, value: float = 0.0, op: str = "sum") -> PolyBlock:
    """Return the block of a cumulative reduction along the last axis of x [3, 5] (specification 003)."""
    p = Program(x="f64 3 5")
    with context():
        total = cumulative(p, p["x"], before, after, value, op)
    (block,) = view_of(p.result(total)).blocks
    return block


@pytest.mark.parametrize(("before", "after", "reverse", "exclusive"), FORMS)
def test_cumulative_reductions_are_scans(before, after, reverse, exclusive):
    block = scanned(before, after)
    assert block.kind == "scan"
    assert block.attributes["axis"] == 1
    assert (block.attributes["reverse"], block.attributes["exclusive"]) == (reverse, exclusive)


@pytest.mark.parametrize(
    ("value", "op", "kind"), [(0.0, "max", "reduce"), (-np.inf, "max", "scan"), (1.0, "prod", "scan")]
)
def test_a_scan_is_padded_with_the_neutral_element(value, op, kind):
    assert scanned(4, 0, value, op).kind == kind


def test_a_sliding_sum_is_no_scan():
    assert scanned(2, 2).kind == "reduce"


def test_names_are_made_isl_identifiers():
    assert isl_identifier("n 3/a") == "n_3_a"
    assert isl_identifier("3x") == "_3x"
    assert isl_identifier("mod") == "_mod"
    assert isl_identifier("x", {"x"}) == "x_"


def test_an_axis_is_not_called_like_a_parameter():
    statement = Statement.over("S", (extents.symbol("n"), extents.symbol("n")), ["n", "n"])
    assert len({*statement.axes, "n"}) == 3
    assert not isl.Set(statement.domain_text).is_empty()


def test_a_product_of_symbols_is_one_parameter():
    statement = Statement.over("S", (extents.parse_extent("G*Cin"),), [""])
    assert isl.Set(statement.domain_text).is_equal(isl.Set("[P] -> { S[i] : 0 <= i < P }".replace("P", "G_Cin")))


def test_a_question_that_is_too_hard_is_given_up():
    conditions = " and ".join(f"exists e{k} : {k + 7} a <= {k + 11} e{k} + b <= {k + 8} a" for k in range(40))
    with pytest.raises(TooHard), bounded():
        isl.Set(f"{{ [a, b] : {conditions} }}").complement()
    assert not isl.Set("{ [a] : a = 1 }").complement().is_empty()  # the next question is not affected


def reshape_map(old, new) -> isl.Map:
    """Return the map of a reshape by definition: equal row-major positions, with nothing simplified."""

    def flat(prefix, shape):
        text = "0"
        for position, extent in enumerate(shape):
            text = f"({text})*{extent} + {prefix}{position}"
        return text

    def box(prefix, shape):
        return "".join(f" and 0 <= {prefix}{k} < {extent}" for k, extent in enumerate(shape))

    left, right = (", ".join(f"{p}{k}" for k in range(len(s))) for p, s in (("i", new), ("o", old)))
    text = f"{flat('i', new)} = {flat('o', old)}{box('i', new)}{box('o', old)}"
    return isl.Map(f"{{ [{left}] -> [{right}] : {text} }}")


def composed(shape, chain) -> isl.Map:
    """Return the access of a chain as the isl composition of its steps, each within its result's box."""
    total, current = None, tuple(shape)
    for step in chain.steps:
        if step.op == "reshape" and 0 not in step.shape:
            one = reshape_map(current, step.shape)
        else:
            p = Program(x=TensorType("i64", current))
            p.result(p.op(step.op, p["x"], name="y", **step.arguments))
            (block,) = view_of(p).blocks
            polyhedra = Polyhedra(block.statement)
            (access,) = block.accesses
            one = polyhedra.access("x", access.index, access.guards).intersect_domain(polyhedra.domain)
            one = one.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)
        total = one if total is None else one.apply_range(total)
        current = step.shape
    return total


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.integers(0, 2**32))
def test_composed_accesses_equal_isl_s_composition(shape, seed):
    chain = random_chain(random.Random(seed), shape, 4)
    p = Program(x=TensorType("i64", tuple(shape)))
    (block,) = view_of(p.result(p.neg(chain.on(p, p["x"]), name="y"))).blocks
    (access,) = accesses(block)
    access = access.intersect_domain(isl.Set(block.statement.domain_text))
    (read,) = block.accesses
    if chain.steps and read.tensor == "x":
        expected = composed(shape, chain).set_tuple_name(isl.dim_type.in_, "y").set_tuple_name(isl.dim_type.out, "x")
        assert access.is_equal(expected)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.sampled_from(["M", "2*M", "(M - 1) floordiv 2 + 3", "M*N"]), st.integers(0, 2**32))
def test_the_text_of_an_access_is_the_access(extent, seed):
    chain = random_chain(random.Random(seed), [extents.parse_extent(extent), 4], 4)
    p = Program(x=TensorType("i64", chain.shape))
    for block in view_of(p.result(p.neg(chain.on(p, p["x"])))).blocks:
        polyhedra = Polyhedra(block.statement)
        assert isl.Set(block.statement.domain_text).is_equal(polyhedra.domain)
        for access, text in zip(block.accesses, accesses(block), strict=True):
            assert text.is_equal(polyhedra.access(access.tensor, access.index, access.guards))
