"""`tinyc explain`: an access, a block or an edge with its reasons, as a person reads them."""

import re

import pytest

from tinyc import cli

#: A matrix product, a maximum over it with a border, and an op that reads where its data says.
PROGRAM = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", "K"]}},
  {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": ["K", "N"]}},
  {"id": "i", "uop": "INPUT", "arg": {"tensor_id": "i", "dtype": "i32", "shape": [4]}},
  {"id": "a", "uop": "EXPAND", "src": ["x"], "arg": {"result_shape": ["M", "N", "K"], "broadcast_dimensions": [0, 2]}},
  {"id": "t", "uop": "PERMUTE", "src": ["w"], "arg": {"perm": [1, 0]}},
  {"id": "b", "uop": "EXPAND", "src": ["t"], "arg": {"result_shape": ["M", "N", "K"], "broadcast_dimensions": [1, 2]}},
  {"id": "p", "uop": "MUL", "src": ["a", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}},
  {"id": "padded", "uop": "PAD", "src": ["y"], "arg": {"pad": [[1, 1], [0, 0]], "value": 2.5}},
  {"id": "windows", "uop": "POOL", "src": ["padded"], "arg": {"kernel": [1]}},
  {"id": "most", "uop": "REDUCE", "src": ["padded"], "arg": {"op": "MAX", "axes": [1], "dtype": "fp32"}},
  {"id": "picked", "uop": "GATHER", "src": ["most", "i"], "arg": {"axis": 0}},
  {"id": "z", "uop": "NEG", "src": ["picked"]}],
 "outputs": ["z"]}
"""


#: Running sums of rows that a reshape merges: `[B, H, 5]` as `[B*H, 5]`.
RUNNING = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["B", "H", 5]}},
  {"id": "r", "uop": "RESHAPE", "src": ["x"], "arg": {"result_shape": ["B*H", 5]}},
  {"id": "p", "uop": "PAD", "src": ["r"], "arg": {"pad": [[0, 0], [4, 0]], "value": 0.0}},
  {"id": "w", "uop": "POOL", "src": ["p"], "arg": {"kernel": [5]}},
  {"id": "y", "uop": "REDUCE", "src": ["w"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: Windows of 3 taps laid over each other, `[C, taps, windows]`, by the diagonal of a window of every row.
OVERLAPPING = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["C", 3, 5]}},
  {"id": "f", "uop": "FLIP", "src": ["x"], "arg": {"axes": [1]}},
  {"id": "p", "uop": "PAD", "src": ["f"], "arg": {"pad": [[0, 0], [0, 0], [2, 2]], "value": 0.0}},
  {"id": "w", "uop": "POOL", "src": ["p"], "arg": {"kernel": [3]}},
  {"id": "v", "uop": "VIEW", "src": ["w"],
   "arg": {"result_shape": ["C", 7, 3], "index_map": {"map": ["i0", "i2", "i1", "i2"]}}},
  {"id": "y", "uop": "REDUCE", "src": ["v"], "arg": {"op": "SUM", "axes": [2], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A convolution of a rectified image: stride 2 and dilation 1 along the rows, 1 and 2 along the columns.
CONVOLUTION = """
{"uops": [
  {"id": "n0", "uop": "INPUT", "arg": {"tensor_id": "image", "dtype": "fp32", "shape": ["C", 56, 56]}},
  {"id": "n1", "uop": "INPUT", "arg": {"tensor_id": "weights", "dtype": "fp32", "shape": ["O", "C", 3, 3]}},
  {"id": "s", "uop": "RELU", "src": ["n0"]},
  {"id": "p", "uop": "PAD", "src": ["s"], "arg": {"pad": [[0, 0], [1, 1], [1, 1]], "value": 0.0}},
  {"id": "w", "uop": "POOL", "src": ["p"], "arg": {"kernel": [3, 3], "stride": [2, 1], "dilation": [1, 2]}},
  {"id": "a", "uop": "EXPAND", "src": ["w"],
   "arg": {"result_shape": ["O", "C", 28, 54, 3, 3], "broadcast_dimensions": [1, 2, 3, 4, 5]}},
  {"id": "b", "uop": "EXPAND", "src": ["n1"],
   "arg": {"result_shape": ["O", "C", 28, 54, 3, 3], "broadcast_dimensions": [0, 1, 4, 5]}},
  {"id": "m", "uop": "MUL", "src": ["a", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["m"], "arg": {"op": "SUM", "axes": [1, 4, 5], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A vector's windows times its first elements: both operands are one tensor.
AUTOCORRELATION = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [9]}},
  {"id": "w", "uop": "POOL", "src": ["x"], "arg": {"kernel": [4]}},
  {"id": "s", "uop": "SHRINK", "src": ["x"], "arg": {"lo": [0], "hi": [4], "step": [1]}},
  {"id": "b", "uop": "EXPAND", "src": ["s"], "arg": {"result_shape": [6, 4], "broadcast_dimensions": [1]}},
  {"id": "m", "uop": "MUL", "src": ["w", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["m"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A product that reads merged rows `[4, 14]`, and the same with one operand backwards.
MERGED = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4, "K", 14]}},
  {"id": "w", "uop": "INPUT", "arg": {"tensor_id": "w", "dtype": "fp32", "shape": ["K", "N"]}},
  {"id": "t", "uop": "PERMUTE", "src": ["x"], "arg": {"perm": [0, 2, 1]}},
  {"id": "r", "uop": "RESHAPE", "src": ["t"], "arg": {"result_shape": [56, "K"]}},
  {"id": "a", "uop": "EXPAND", "src": ["r"], "arg": {"result_shape": [56, "K", "N"], "broadcast_dimensions": [0, 1]}},
  {"id": "b", "uop": "EXPAND", "src": ["w"], "arg": {"result_shape": [56, "K", "N"], "broadcast_dimensions": [1, 2]}},
  {"id": "p", "uop": "MUL", "src": ["a", "b"]},
  {"id": "y", "uop": "REDUCE", "src": ["p"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}},
  {"id": "f", "uop": "FLIP", "src": ["b"], "arg": {"axes": [1]}},
  {"id": "q", "uop": "MUL", "src": ["a", "f"]},
  {"id": "z", "uop": "REDUCE", "src": ["q"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}],
 "outputs": ["y", "z"]}
"""

#: An input whose name is the id of another node, and a sum over the middle axis, of the same size as the first.
SQUARE = """
{"uops": [
  {"id": "n0", "uop": "INPUT", "arg": {"tensor_id": "s", "dtype": "fp32", "shape": ["M", "M", 4]}},
  {"id": "s", "uop": "NEG", "src": ["n0"]},
  {"id": "y", "uop": "REDUCE", "src": ["s"], "arg": {"op": "SUM", "axes": [1], "dtype": "fp32"}}],
 "outputs": ["y"]}
"""

#: A row's maximum, taken from the row.
ROWS = """
{"uops": [
  {"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": ["M", "N"]}},
  {"id": "most", "uop": "REDUCE", "src": ["x"], "arg": {"op": "MAX", "axes": [1], "dtype": "fp32"}},
  {"id": "r", "uop": "RESHAPE", "src": ["most"], "arg": {"result_shape": ["M", 1]}},
  {"id": "e", "uop": "EXPAND", "src": ["r"], "arg": {"result_shape": ["M", "N"]}},
  {"id": "d", "uop": "SUB", "src": ["x", "e"]}],
 "outputs": ["d"]}
"""


@pytest.fixture
def explain(tmp_path, capfd):
    """Return a function that runs `tinyc explain` on a program and returns its status, lines and stderr."""
    path = tmp_path / "program.json"

    def call(*arguments, program=PROGRAM):
        path.write_text(program)
        status = cli.main(["explain", str(path), *arguments])
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out.splitlines(), captured.err

    return call


def test_the_overview_has_inputs_blocks_tensors_and_edges(explain):
    status, lines, _ = explain()
    assert status == 0
    assert lines[1:] == [
        "input       x: fp32 [M, K]",
        "            w: fp32 [K, N]",
        "            i: i32 [4]",
        "block       y       contraction (matmul)  m < M, n < N, k < K  reads x[m, k], w[k, n]",
        "            most    reduce max  i0 < M + 2, n < N  reads y[i0 - 1, n]*",
        "            picked  Non-SCoP: 'tiny.gather' reads where its data says",
        "            z       neg  i0 < 4  reads picked[i0]",
        "edge        y -> most",
        "more        tinyc explain --access VALUE | --block NAME | --edge FROM TO [--tile AXIS=SIZE,…]",
    ]


def test_an_access_is_a_chain_of_movements_with_guards_and_values(explain):
    _, lines, _ = explain("--access", "windows")
    assert lines[0].startswith("access      windows: fp32 [M + 2, N, 1], pool dilation=[1] kernel=[1]")
    assert lines[1:] == [
        "axes        i0 < M + 2  iter",
        "            i1 < N  iter, labelled n",
        "            i2 < 1  broadcast",
        "chain       windows[i0, i1, 0]",
        "              = padded[i0, i1]  by pool dilation=[1] kernel=[1] stride=[1]",
        "              = y[i0 - 1, i1]  by pad hi=[1, 0] lo=[1, 0] value=2.5 where 0 <= i0 - 1 < M",
        "composed    windows[i0, i1, 0] = y[i0 - 1, i1]",
        "guards      0 <= i0 - 1 < M, else 2.5",
        "read by     nothing",
    ]


def test_an_access_of_an_op_is_one_for_each_operand(explain):
    _, lines, _ = explain("--access", "p")
    assert lines[4:] == [
        "reads 0     a[i0, i1, i2]",
        "              = x[i0, i2]  by expand broadcast_dimensions=[0, 2] to [M, N, K]",
        "composed    a[i0, i1, i2] = x[i0, i2]",
        "reads 1     b[i0, i1, i2]",
        "              = t[i1, i2]  by expand broadcast_dimensions=[1, 2] to [M, N, K]",
        "              = w[i2, i1]  by permute perm=[1, 0]",
        "composed    b[i0, i1, i2] = w[i2, i1]",
        "read by     y",
    ]


def test_an_access_that_data_decides_has_the_reason(explain):
    _, lines, _ = explain("--access", "picked")
    assert "Non-SCoP    'tiny.gather' reads where its data says" in lines
    assert "reads       most, i as a whole, from memory" in lines


def test_axes_are_paired_with_the_names_that_their_block_has_for_them(explain):
    _, lines, _ = explain("--access", "y", program=SQUARE)
    assert lines[1:5] == [
        "axes        i0 < M  iter, called m by --block",
        "            i1 < 4  iter, called i2 by --block",
        "            i2 < M  reduce, called i1 by --block",
        "reads       s_1[i0, i2, i1]",
    ]
    _, lines, _ = explain("--block", "y", program=SQUARE)
    assert "reads       s_1[m, i1, i2]" in lines


@pytest.mark.parametrize("name", ["image", "n0"])
def test_an_input_is_known_by_its_name_and_by_its_node(explain, name):
    _, lines, _ = explain("--access", name, program=CONVOLUTION)
    assert lines[0].startswith("access      image: fp32 [C, 56, 56], an input, node n0, at ")
    assert lines[-1] == "read by     s"


def test_the_overview_has_the_nodes_of_inputs_with_names_of_their_own(explain):
    _, lines, _ = explain(program=CONVOLUTION)
    assert lines[1:3] == [
        "input       image: fp32 [C, 56, 56], node n0",
        "            weights: fp32 [O, C, 3, 3], node n1",
    ]


def test_a_name_of_an_input_that_is_another_node_s_id_is_the_input(explain):
    assert explain("--access", "s", program=SQUARE)[1][0].startswith("access      s: fp32 [M, M, 4], an input, node n0")
    assert explain("--access", "s_1", program=SQUARE)[1][0].startswith("access      s_1: fp32 [M, M, 4], neg, node s")


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
        "needs       no block: it reads inputs only",
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
    assert "because     each element takes those before it along i2, from the start" in lines
    assert "no matmul   the operand is no product [no-product]" in lines
    assert not any(line.startswith(("no scan", "no fold")) for line in lines)


def test_a_fold_says_which_windows_are_laid_over_each_other(explain):
    _, lines, _ = explain("--block", "y", program=OVERLAPPING)
    assert "because     windows of the source are laid over each other and summed" in lines
    assert "            i1 = window + tap: window is axis 2 of x, tap axis 1" in lines
    assert [line.split()[1] for line in lines if line.startswith("no ")] == ["matmul", "scan"]


def test_a_tensor_that_is_no_block_has_the_reason(explain):
    _, lines, _ = explain("--block", "picked")
    assert "Non-SCoP    'tiny.gather' reads where its data says" in lines


def test_an_edge_has_its_dependences_and_the_halo(explain):
    _, lines, _ = explain("--edge", "y", "most")
    assert lines[:3] == [
        "edge        y -> most",
        "from        y over m < M, n < N, k < K",
        "to          most over i0 < M + 2, n < N",
    ]
    assert lines[3].startswith("true        [M, N, K] -> { y[m, n, k] -> most[i0, n] : m = i0 - 1")
    assert "anti        none: every value is written once, to memory of its own" in lines
    assert "tile        of most: i0 16 (16 along each axis that it writes; --tile sets others)" in lines
    assert any(line.startswith("compute-at  ") for line in lines)


def test_an_axis_of_both_blocks_is_told_apart_in_the_relation(explain):
    _, lines, _ = explain("--edge", "most", "d", program=ROWS)
    assert lines[3:6] == [
        "true        [M, N] -> { most[m, n] -> d[m, n_] }",
        "              where n_ is n of d",
        "              d reads most[m]",
    ]


def test_a_tile_that_is_illegal_has_the_witness(explain):
    _, lines, _ = explain("--edge", "most", "d", "--tile", "n=16", program=ROWS)
    (tile, at, witness, buffer) = lines[-4:]
    assert tile == "tile        of d: n 16"
    assert at.startswith("compute-at  illegal: 'most' is reduced over n of 'x'")
    assert "→" not in at
    assert witness == "witness     most[0, 0] → d[0, 16], M = 1, N = 17"
    assert buffer == "buffer      gmem, 4*M bytes on sm_80: it is illegal in a tile"


def test_a_tile_with_whole_rows_is_legal_and_stays_in_registers(explain):
    _, lines, _ = explain("--edge", "most", "d", "--tile", "m=8", program=ROWS)
    assert lines[-5:] == [
        "tile        of d: m 8",
        "compute-at  ok: a tile of 'd' reads 8 elements of 'most'",
        "halo        none",
        "recompute   at most 1 times each element, on average",
        "buffer      reg, 32 bytes on sm_80: each instance takes the element that its thread made",
    ]


def test_a_tile_of_a_convolution_has_a_halo_and_recomputes_it(explain):
    _, lines, _ = explain("--edge", "s", "y", "--tile", "i2=7, i3=9", program=CONVOLUTION)
    found = dict(line.split(maxsplit=1) for line in lines if not line.startswith(" "))
    assert found["tile"] == "of y: i2 7 × i3 9"
    # A tile of 7 × 9 reads 2*7 + 1 rows and 9 + 4 columns, and takes 2*7 × 9 for itself.
    assert found["halo"] == f"{4 * (15 * 13 - 14 * 9)}*C bytes: 1 along i1, 4 along i2 of s"
    assert re.fullmatch(r"at most 1\.\d+ times each element, on average", found["recompute"])
    assert found["buffer"].startswith("smem_ring of 3 stages, ")


def test_the_recompute_factor_may_grow_with_a_size(explain):
    _, lines, _ = explain("--edge", "s", "y", "--tile", "o=1", program=CONVOLUTION)
    assert "recompute   no number: it grows with a symbolic size" in lines


def test_a_tile_without_sizes_is_the_whole_block(explain):
    _, lines, _ = explain("--edge", "most", "d", "--tile", "", program=ROWS)
    assert "tile        of d: all of it" in lines


def test_the_reduce_axes_of_the_source_can_be_cut_too(explain):
    _, lines, _ = explain("--edge", "y", "most", "--tile", "i0=4,k=8")
    assert any(line.startswith("compute-at  illegal: the tile of 8 cuts axis k") for line in lines)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        ("m=4", "--tile: there is no axis 'm' to cut; there are i0, n of 'most' and k, which 'y' reduces [TC413"),
        ("i0=0", "--tile: i0=0 is no whole number in 1 … 2147483647; there are i0, n of 'most' and k, which"),
        (f"n={2**31}", "--tile: n=2147483648 is no whole number in 1 … 2147483647; there are i0, n of 'most' and k"),
    ],
)
def test_a_tile_that_cannot_be_is_an_error_with_the_axes(explain, tile, message):
    status, lines, err = explain("--edge", "y", "most", "--tile", tile)
    assert (status, lines) == (1, [])
    assert message in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--edge", "y", "most", "--tile", "i0=1.5"), "'i0=1.5' does not read as AXIS=SIZE"),
        (("--edge", "y", "most", "--tile", "i0=-4"), "'i0=-4' does not read as AXIS=SIZE"),
        (("--edge", "y", "most", "--tile", "n=4,n=8"), "'n' is given twice"),
        (("--block", "y", "--tile", "m=4"), "argument --tile: it cuts the block that an edge leads to"),
    ],
)
def test_a_tile_that_does_not_read_is_a_usage_error(explain, capfd, arguments, message):
    with pytest.raises(SystemExit) as ended:
        explain(*arguments)
    assert ended.value.code == 2
    assert message in capfd.readouterr().err


UNKNOWN = [
    (("--access", "pad"), "there is no value 'pad'; did you mean 'padded'"),
    (("--block", "mosst"), "there is no block 'mosst'; did you mean 'most'?"),
    (("--block", "x"), "'x' is an input, which no block computes"),
    (("--access", "zzz"), "there is no value 'zzz'; there are x, w, i, a, t, b, p, y, "),
    (("--block", "t"), "'t' (permute perm=[1, 0]) is no block"),
    (("--edge", "most", "y"), "'y' does not read 'most'; 'y' reads no block"),
    (("--edge", "picked", "z"), "'picked' is no block, and has no edges"),
]


@pytest.mark.parametrize(("arguments", "message"), UNKNOWN)
def test_an_unknown_name_is_an_error_with_what_there_is(explain, arguments, message):
    status, lines, err = explain(*arguments)
    assert (status, lines) == (1, [])
    assert message in err
    assert err.endswith("[TC413 UnknownName]\n")


def test_an_input_under_its_node_is_no_block_either(explain):
    assert "'n0' is the input 'image', which no block computes" in explain("--block", "n0", program=CONVOLUTION)[2]


def test_of_many_names_a_message_lists_the_first(explain):
    nodes = [f'{{"id": "v{k}", "uop": "NEG", "src": ["{f"v{k - 1}" if k else "x"}"]}}' for k in range(60)]
    declared = '{"id": "x", "uop": "INPUT", "arg": {"tensor_id": "x", "dtype": "fp32", "shape": [4]}}'
    program = f'{{"uops": [{", ".join([declared, *nodes])}], "outputs": ["v59"]}}'
    _, _, err = explain("--access", "unknown", program=program)
    assert "; there are x, v0, v1, " in err
    assert "v38, … (61 in all) [TC413" in err
    assert "; did you mean 'v59'" in explain("--access", "v599", program=program)[2]


def test_a_program_that_is_lowered_already_is_refused(tmp_path, capfd):
    path = tmp_path / "host.mlir"
    path.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        '  %0 = "tiny.relu"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n'
    )
    region = tmp_path / "region.mlir"
    from tinyc import opt

    opt.main(["--tiny-to-region", str(path), "-o", str(region)])
    assert cli.main(["explain", str(region)]) == 1
    assert "@main is no graph of Tiny ops" in capfd.readouterr().err
