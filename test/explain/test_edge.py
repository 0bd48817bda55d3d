"""`tinyc explain --edge`: dependences, halo and buffers, as a person reads them."""

import re

import pytest

from analysis_programs.explain_programs import CONVOLUTION, RESHAPED, ROWS, SCALED


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
        "recompute   factor at most 1, on average over the elements",
        "buffer      reg, 32 bytes on sm_80: each instance takes the element that its thread made",
    ]


def test_a_tile_of_a_convolution_has_a_halo_and_recomputes_it(explain):
    _, lines, _ = explain("--edge", "s", "y", "--tile", "i2=7, i3=9", program=CONVOLUTION)
    found = dict(line.split(maxsplit=1) for line in lines if not line.startswith(" "))
    assert found["tile"] == "of y: i2 7 × i3 9"
    # A tile of 7 × 9 reads 2*7 + 1 rows and 9 + 4 columns, and takes 2*7 × 9 for itself.
    assert found["halo"] == f"{4 * (15 * 13 - 14 * 9)}*C bytes: 1 along i1, 4 along i2 of s"
    assert re.fullmatch(r"factor at most 1\.\d+, on average over the elements", found["recompute"])
    assert found["buffer"].startswith("smem_ring of 3 stages, ")


def test_the_recompute_factor_may_grow_with_a_size(explain):
    _, lines, _ = explain("--edge", "s", "y", "--tile", "o=1", program=CONVOLUTION)
    assert "recompute   factor without a bound: it grows with a symbolic size" in lines


def test_an_edge_that_reads_an_element_twice_has_it_once(explain):
    _, lines, _ = explain("--edge", "r", "sq", program=SCALED)
    assert lines[3:6] == [
        "true        [M] -> { r[m, i1] -> sq[m, i1] }",
        "              sq reads r[m, i1], twice",
        "anti        none: every value is written once, to memory of its own",
    ]


def test_a_product_of_sizes_has_its_meaning_with_each_relation(explain):
    _, lines, _ = explain("--edge", "y", "z", program=RESHAPED)
    assert lines[3:6] == [
        "true        [B, A_C] -> { y[b, i1] -> z[i1, b] }",
        "              where A_C is A*C",
        "              z reads y[b, i0]",
    ]


def test_a_tile_without_sizes_is_the_whole_block_of_which_the_buffer_holds_a_part(explain):
    _, lines, _ = explain("--edge", "most", "d", "--tile", "", program=ROWS)
    assert lines[-6:] == [
        "tile        of d: all of it, no axis is cut",
        "compute-at  ok: a tile of 'd' reads M elements of 'most'",
        "halo        none",
        "recompute   factor at most 1, on average over the elements",
        "buffer      reg, 4 bytes on sm_80: each instance takes the element that its thread made",
        "              along m, which the tile leaves whole, it holds a part at a time",
    ]


def test_the_reduce_axes_of_the_source_can_be_cut_too(explain):
    _, lines, _ = explain("--edge", "y", "most", "--tile", "i0=4,k=8")
    assert any(line.startswith("compute-at  illegal: the tile of 8 cuts axis k") for line in lines)


@pytest.mark.parametrize(
    ("tile", "message"),
    [
        ("m=4", "--tile: there is no axis 'm' to cut; there are i0, n of 'most' and k, which 'y' reduces [TC413"),
        ("i0=0", "--tile: i0=0 is not a whole number in 1 … 2147483647; there are i0, n of 'most' and k, which"),
        (f"n={2**31}", "--tile: n=2147483648 is not a whole number in 1 … 2147483647; there are i0, n of 'most' and k"),
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
