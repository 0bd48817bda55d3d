"""`tinyc explain`: the overview, accesses and names, as a person reads them."""

import pytest

from analysis_programs.explain_programs import CONVOLUTION, HEADS, SCALED, SQUARE, padded
from tinyc.driver import cli


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
        "more        tinyc explain --access VALUE | --block NAME | --edge FROM TO [--tile AXIS=SIZE,…] | "
        "--fusion | --plan | --memory | --summary",
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


def test_an_access_says_where_its_block_stops_to_read_through_movements(explain):
    _, lines, _ = explain("--access", "y", program=padded(20))
    (stops,) = [line for line in lines if line.startswith("stops")]
    assert stops.startswith("stops       at p3, a block of its own: ExcessivePiecewise: ")
    assert "pad guards 17 of 16" in stops
    assert "reads       p3[i0 - 16]" in explain("--block", "y", program=padded(20))[1]


def test_an_access_of_a_block_that_reads_through_all_movements_does_not_stop(explain):
    assert not any(line.startswith("stops") for line in explain("--access", "y", program=padded(16))[1])


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


@pytest.mark.parametrize("name", ["y.const", "y_const"])
def test_a_value_and_its_block_are_known_by_both_names(explain, name):
    _, lines, _ = explain("--access", name, program=SCALED)
    assert lines[0].startswith("access      y.const: fp32 [M, 4], const value=0.5 to [M, 4], block y_const, at ")
    _, lines, _ = explain("--block", name, program=SCALED)
    assert lines[0].startswith("block       y_const: fp32 [M, 4], const, value y.const, at ")


def test_a_name_of_a_value_and_of_another_s_block_is_what_the_option_is_about(explain):
    flipped = '{"id": "y_const", "uop": "FLIP", "src": ["r"], "arg": {"axes": [1]}}'
    program = SCALED.replace('{"id": "sq", "uop": "MUL", "src": ["r", "r"]}', flipped).replace('"sq"', '"y_const"')
    assert explain("--access", "y_const", program=program)[1][0].startswith("access      y_const: fp32 [M, 4], flip")
    assert ", const, value y.const, " in explain("--block", "y_const", program=program)[1][0]


def test_a_dimension_that_has_several_axes_is_said(explain):
    split = "dimension 1 (D*H) is split in axes [H, D]"
    assert f"input       x: fp32 [S, D*H], {split}" in explain(program=HEADS)[1]
    assert f"            {split}" in explain("--access", "x", program=HEADS)[1]


def test_a_name_of_an_input_that_is_another_node_s_id_is_the_input(explain):
    assert explain("--access", "s", program=SQUARE)[1][0].startswith("access      s: fp32 [M, M, 4], an input, node n0")
    assert explain("--access", "s_1", program=SQUARE)[1][0].startswith("access      s_1: fp32 [M, M, 4], neg, node s")


UNKNOWN = [
    (("--access", "pad"), "there is no value 'pad'; did you mean 'padded'"),
    (("--block", "mosst"), "there is no block 'mosst'; did you mean 'most'?"),
    (("--block", "x"), "'x' is an input, which no block computes"),
    (("--access", "zzz"), "there is no value 'zzz'; there are x, w, i, a, t, b, p, y, "),
    (("--block", "t"), "'t' (permute perm=[1, 0]) is not a block"),
    (("--edge", "most", "y"), "'y' does not read 'most'; 'y' reads no block"),
    (("--edge", "picked", "z"), "'picked' is not a block, and has no edges"),
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
    from tinyc.opt import main as opt

    opt.main(["--tiny-to-region", str(path), "-o", str(region)])
    assert cli.main(["explain", str(region)]) == 1
    assert "the program is at layer 'region'; explain it at layer 'tiny'" in capfd.readouterr().err
