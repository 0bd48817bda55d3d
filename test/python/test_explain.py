"""`tinyc explain`: an access, a block or an edge with its reasons, as a person reads them."""

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
        "more        tinyc explain --access VALUE | --block NAME | --edge FROM TO",
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
        "            m: m",
        "            n: n",
        "            k: k",
        "needs       no block: it reads inputs only",
        "needed by   most",
    ]


def test_a_reduction_says_why_it_is_no_contraction(explain):
    _, lines, _ = explain("--block", "most")
    assert "no matmul   the reduction is a max, not a sum [not-a-sum]" in lines
    assert any(line.startswith("no scan     nothing bounds the sum of i1") for line in lines)
    assert "no fold     the reduction is a max, not a sum [not-a-sum]" in lines
    assert "              where 0 <= i0 - 1 < M, else 2.5" in lines


def test_a_scan_over_merged_axes_is_one_as_in_the_view(explain):
    _, lines, _ = explain("--block", "y", program=RUNNING)
    assert "because     each element takes those before it along i2, from the start" in lines
    assert "no matmul   the operand is no product [no-product]" in lines
    assert not any(line.startswith(("no scan", "no fold")) for line in lines)


def test_a_fold_says_which_windows_are_laid_over_each_other(explain):
    _, lines, _ = explain("--block", "y", program=OVERLAPPING)
    assert "because     windows of the source are laid over each other and summed" in lines
    assert "            i1 = 1*window + 1*tap - 0: window is axis 2 of the source, tap axis 1" in lines
    assert [line.split()[1] for line in lines if line.startswith("no ")] == ["matmul", "scan"]


def test_a_tensor_that_is_no_block_has_the_reason(explain):
    _, lines, _ = explain("--block", "picked")
    assert "Non-SCoP    'tiny.gather' reads where its data says" in lines


def test_an_edge_has_its_dependences_and_the_halo(explain):
    _, lines, _ = explain("--edge", "y", "most")
    assert lines[0] == "edge        y -> most"
    assert lines[1].startswith("true        [M, N, K] -> { y[m, n, k] -> most[i0, n] : m = i0 - 1")
    assert "anti        none: every value is written once, to memory of its own" in lines
    assert any(line.startswith("compute-at  ") for line in lines)


UNKNOWN = [
    (("--access", "pad"), "there is no value 'pad'; did you mean 'padded'"),
    (("--block", "mosst"), "there is no block 'mosst'; did you mean 'most'?"),
    (("--block", "x"), "'x' is an input, which no block computes"),
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
