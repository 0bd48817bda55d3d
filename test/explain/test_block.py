"""`tinyc explain --block`: a block or a tensor with its reasons, as a person reads them."""

import pytest

from analysis_programs.explain_programs import (
    AUTOCORRELATION,
    CONVOLUTION,
    HEADS,
    MERGED,
    OVERLAPPING,
    RESHAPED,
    RUNNING,
    SCALED,
    cumulative,
)
from tinyc.analysis.graphs import main_function
from tinyc.dialects.tiny.ops import MovementOp
from tinyc.driver.cli import main
from tinyc.driver.sources import read_program
from tinyc.fusion.graph import NodeKind, fusion_graph


def test_a_contraction_says_what_each_axis_is(explain):
    _, lines, _ = explain("--block", "y")
    assert lines[0].startswith("block       y: fp32 [M, N], contraction (matmul), at ")
    assert lines[1:] == [
        "domain      m < M, n < N, k < K",
        "            [M, N, K] -> { y[m, n, k] : 0 <= m < M and 0 <= n < N and 0 <= k < K }",
        "writes      y[m, n]",
        "reads       x[m, k]",
        "            w[k, n]",
        "because     a sum over k of a product that only it reads",
        "            as m: m",
        "            as n: n",
        "            as k: k",
        "needs       no block: it reads only the inputs x, w",
        "needed by   most",
    ]


def test_a_reduction_says_why_it_is_no_contraction(explain):
    _, lines, _ = explain("--block", "most")
    assert "no matmul   the reduction is a max, not a sum [not-a-sum]" in lines
    assert any(line.startswith("no scan     nothing bounds the sum of n") for line in lines)
    assert "no fold     the reduction is a max, not a sum [not-a-sum]" in lines
    assert "              where 0 <= i0 - 1 < M, else 2.5" in lines


def test_a_window_names_the_tensor_and_the_row(explain):
    _, lines, _ = explain("--block", "y", program=CONVOLUTION)
    assert [line.strip() for line in lines if line.strip().startswith("window")] == [
        "window along axis 1 of s: 2*i2 + i4 - 1",
        "window along axis 2 of s: i3 + 2*i5 - 1",
    ]


def test_a_window_says_which_operand_where_both_are_one_tensor(explain):
    _, lines, _ = explain("--block", "y", program=AUTOCORRELATION)
    assert "            window along axis 0 of x, the left operand: i0 + i1" in lines


def test_parts_of_an_axis_have_its_name(explain):
    _, lines, _ = explain("--block", "y", program=MERGED)
    assert "            i0 in parts: i0.0 < 4, i0.1 < 14" in lines
    assert "            as m: i0.0, i0.1" in lines


def test_a_product_that_is_no_contraction_names_its_operands_and_axes(explain):
    _, lines, _ = explain("--block", "z", program=MERGED)
    at = next(number for number, line in enumerate(lines) if line.startswith("no matmul"))
    assert lines[at].startswith("no matmul   the right operand is read backwards (-k + K - 1) (where i0.0 < 4")
    assert lines[at + 1] == "            q is the product of x, the left operand, and w, the right one"


def test_a_scan_over_merged_axes_is_one_as_in_the_view(explain):
    _, lines, _ = explain("--block", "y", program=RUNNING)
    assert "because     each element along i2 takes itself and those before it" in lines
    assert "no matmul   the operand is not a product [no-product]" in lines
    assert not any(line.startswith(("no scan", "no fold")) for line in lines)


def test_a_fold_says_which_windows_are_laid_over_each_other(explain):
    _, lines, _ = explain("--block", "y", program=OVERLAPPING)
    assert "because     windows of the source are laid over each other and summed" in lines
    assert "            i1 = window + tap: window is axis 2 of x, tap axis 1" in lines
    assert [line.split()[1] for line in lines if line.startswith("no ")] == ["matmul", "scan"]


RUNS = [
    (cumulative(4, 0, 0, 9), "itself and those before it"),
    (cumulative(5, 0, 0, 9), "those before it, not itself"),
    (cumulative(0, 4, 0, 9), "itself and those after it"),
    (cumulative(0, 5, 1, 10), "those after it, not itself"),
]


@pytest.mark.parametrize(("program", "taken"), RUNS)
def test_a_scan_says_which_elements_each_takes(explain, program, taken):
    _, lines, _ = explain("--block", "y", program=program)
    assert f"because     each element along i1 takes {taken}" in lines


def test_a_gather_is_computed_element_by_element_from_what_is_in_memory(explain):
    _, lines, _ = explain("--block", "picked")
    assert lines[0].startswith("tensor      picked: fp32 [4], gather axis=0, not a block, at ")
    assert lines[1:] == [
        "Non-SCoP    'tiny.gather' reads where its data says",
        "            each element is computed where it is read; most has to be in memory: a region ends there",
        "needs       most",
        "needed by   z",
    ]


def test_a_top_k_is_computed_as_a_whole(explain):
    program = """{"uops": [
      {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", 4]}},
      {"id": "t", "uop": "TOPK", "src": ["x"], "arg": {"k": 2, "axis": 1}},
      {"id": "y", "uop": "NEG", "src": ["t"]}]}"""
    _, lines, _ = explain("--block", "t", program=program)
    assert "            it is computed as a whole, and read from memory: a region ends here" in lines


FREE = "is read under the new shape, at no cost"
COPY = "the function's result is a copy of it"
COSTS = [
    ("s", f"the buffer of r {FREE}"),
    ("q", f"the buffer of p {FREE}; p, itself a movement, is copied to that buffer first; {COPY}"),
    ("v", f"the buffer of x {FREE}"),
    ("w", f"the buffer of v {FREE}; {COPY}"),
]


@pytest.mark.parametrize(("name", "cost"), COSTS)
def test_a_reshape_that_ends_a_region_reads_the_buffer_under_the_new_shape(explain, name, cost):
    assert explain("--block", name, program=RESHAPED)[1][2] == f"            {cost}"
    assert f"reads       {cost}" in explain("--access", name, program=RESHAPED)[1]


def test_the_reshapes_that_are_free_are_those_of_the_kernels(tmp_path):
    path = tmp_path / "program.json"
    path.write_text(RESHAPED)
    module = read_program(path, {})
    with module.context:
        nodes = fusion_graph(main_function(module)).nodes
        assert {name for name, node in nodes.items() if node.kind is NodeKind.VIEW} == {name for name, _ in COSTS}
        copied = {name for name, node in nodes.items() if isinstance(node.op, MovementOp)} - {name for name, _ in COSTS}
        assert copied == {"p"}


NEIGHBOURS = [
    (RESHAPED, "r", "no block: it reads only the input x", "s (a tensor, not a block)"),
    (RESHAPED, "s", "r", "y"),
    (RESHAPED, "y", "s (a tensor, not a block)", "z"),
    (RESHAPED, "q", "p", "the function's result"),
    (SCALED, "y_const", "nothing: it is a constant", "y"),
    (SCALED, "sq", "r", "y"),
]


@pytest.mark.parametrize(("program", "name", "needs", "needed"), NEIGHBOURS)
def test_a_block_says_what_it_needs_and_what_needs_it(explain, program, name, needs, needed):
    assert explain("--block", name, program=program)[1][-2:] == [f"needs       {needs}", f"needed by   {needed}"]


def test_a_block_that_reads_no_tensor_need_not_be_a_constant(explain):
    counted = """
{"uops": [{"id": "i", "uop": "IOTA", "arg": {"dtype": "i32", "shape": [5], "axis": 0}},
          {"id": "y", "uop": "NEG", "src": ["i"]}], "outputs": ["y"]}"""
    assert "needs       nothing: it reads no tensor" in explain("--block", "i", program=counted)[1]


def test_a_movement_says_what_it_has_to_be_in_memory_for(explain):
    because = "because     it has to be in memory for "
    assert f"{because}q (a tensor, not a block)" in explain("--block", "p", program=RESHAPED)[1]
    assert f"{because}the function's result" in explain("--block", "y", program=HEADS)[1]


def test_a_product_of_sizes_is_a_parameter_with_its_meaning(explain):
    _, lines, _ = explain("--block", "y", program=RESHAPED)
    assert lines[1:4] == [
        "domain      b < B, i1 < A*C",
        "            [B, A_C] -> { y[b, i1] : 0 <= b < B and 0 <= i1 < A_C }",
        "              where A_C is A*C",
    ]


def test_a_dimension_that_has_several_axes_is_said(explain):
    _, lines, _ = explain("--block", "y", program=HEADS)
    at = lines.index("writes      y[s, h, d]")
    assert lines[at + 1] == "              dimension 1 (D*H) is split in axes [H, D]"


def test_a_block_may_read_constants_which_no_block_computes(capsys, tmp_path):
    path = tmp_path / "p.mlir"
    path.write_text(
        'func.func @main(%x: tensor<2xf32> {tiny.name = "x"}) -> (tensor<2xf32> {tiny.name = "y"}) {\n'
        '  %c = "tiny.const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>\n'
        '  %y = "tiny.add"(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n'
        '  %z = "tiny.neg"(%c) : (tensor<2xf32>) -> tensor<2xf32>\n'
        '  %w = "tiny.add"(%y, %z) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>\n'
        "  return %w : tensor<2xf32>\n}\n"
    )
    assert main(["explain", str(path)]) == 0
    assert "constant    c: fp32 [2]" in capsys.readouterr().out
    assert main(["explain", str(path), "--block", "y"]) == 0
    assert "no block: it reads only the inputs and constants x, c" in capsys.readouterr().out
    assert main(["explain", str(path), "--block", "z"]) == 0
    assert "no block: it reads only the constant c" in capsys.readouterr().out
    assert main(["explain", str(path), "--block", "c"]) == 1
    assert "'c' is a constant of the program, which no block computes" in capsys.readouterr().err
