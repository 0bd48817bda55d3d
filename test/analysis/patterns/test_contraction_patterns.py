"""Each product that is a contraction: its roles and windows, with sizes as numbers and as symbols, and its numbers."""

import numpy as np
import pytest

from analysis_oracles.contraction_oracle import expected_and_found
from analysis_programs import contraction_programs as programs
from analysis_programs.contraction_programs import SIZES, Sizes
from tinyc.analysis.index_book.splits import splits_of
from tinyc.analysis.patterns.contraction import Contraction, Roles, Window, detect_contraction
from tinyc.dialects.registry import context

CONCRETE, SYMBOLIC = Sizes(SIZES), Sizes({})
#: Only the batch is a symbol: the outermost part of a merged axis may be one.
SYMBOLIC_BATCH = Sizes({name: size for name, size in SIZES.items() if name != "B"})

both = pytest.mark.parametrize("sizes", [CONCRETE, SYMBOLIC], ids=["concrete", "symbolic"])


def contraction(program, dims=None) -> Contraction:
    with context():
        found = detect_contraction(program.last_reduce, dims)
    assert isinstance(found, Contraction), found
    return found


def roles(batch: str = "", m: str = "", n: str = "", k: str = "", broadcast: str = "") -> Roles:
    """Return the roles of axes below 10: ``roles("0", "12", "3", "4")``."""
    return Roles(*(tuple(map(int, axes)) for axes in (batch, m, n, k, broadcast)))


def check(program, expected: Roles, windows=(), digits: str | None = None, dims=None) -> Contraction:
    """Check what is detected; `digits` are their extents, where axes are split, `dims` what symbolic ones are."""
    found = contraction(program, dims)
    shape = digits if digits is not None else " ".join(map(str, found.domain))
    assert " ".join(map(str, found.digits.shape)) == shape
    assert found.roles == expected
    assert found.windows == tuple(windows)
    assert found.pattern == ("conv" if windows else "matmul")
    np.testing.assert_array_equal(*expected_and_found(program, found, SIZES, dims))
    return found


PRODUCTS = [
    (programs.plain, roles("", "0", "1", "2")),
    (programs.axis_order_of_002, roles("", "0", "1", "2")),
    (programs.transposed_a, roles("", "0", "1", "2")),
    (programs.transposed_b, roles("", "0", "1", "2")),
    (programs.batched, roles("0", "1", "2", "3")),
    (programs.broadcast_weight, roles("", "01", "2", "3")),
    (programs.broadcast_result, roles("", "0", "2", "3", "1")),
    (programs.several_k, roles("", "0", "1", "23")),
    (programs.k_first, roles("", "1", "2", "0")),
    (programs.moved_product, roles("", "2", "0", "1")),
    (programs.scores, roles("01", "2", "3", "4")),
    (programs.scores_of_merged_heads, roles("01", "2", "3", "4")),
    (programs.scores_of_one_projection, roles("01", "2", "3", "4")),
    (programs.grouped_query, roles("01", "23", "4", "5")),
    (programs.weighted_values, roles("01", "2", "3", "4")),
    (programs.gram, roles("", "0", "1", "2")),
    (programs.conv_1x1, roles("", "023", "1", "456")),
    (programs.conv_1x1_strided, roles("", "023", "1", "456")),
    (programs.conv_1x1_padded, roles("", "023", "1", "456")),
    (programs.patch_embedding, roles("", "023", "1", "456")),
]


@both
@pytest.mark.parametrize(("make", "expected"), PRODUCTS, ids=[make.__name__ for make, _ in PRODUCTS])
def test_matrix_products(make, expected, sizes):
    found = check(make(sizes), expected)
    assert (found.form, found.has_mma_shape) == ("matrix", True)


def square(row: int, outer: int, kernel: int, stride: int, dilation: int, pad: int) -> list[Window]:
    """Return two windows alike, in adjacent rows and axes."""
    return [Window("lhs", row + k, outer + k, kernel + k, stride, dilation, pad) for k in range(2)]


CONVOLUTIONS = [
    (programs.conv_nchw, roles("", "023", "1", "456"), square(2, 2, 5, 1, 1, 1)),
    (
        programs.conv_strided_dilated,
        roles("", "023", "1", "456"),
        [Window("lhs", 2, 2, 5, stride=2, dilation=1, pad=1), Window("lhs", 3, 3, 6, stride=1, dilation=2, pad=2)],
    ),
    (programs.conv_nhwc, roles("", "012", "3", "456"), square(1, 1, 4, 2, 2, 1)),
    (programs.conv_weight_first, roles("", "1", "02", "34"), [Window("rhs", 2, 2, 4, 2, 1, 1)]),
    (programs.conv_reversed, roles("", "02", "1", "34"), [Window("lhs", 2, 2, 4, 1, 1, 0)]),
    (programs.conv_transposed, roles("", "03", "12", "45"), [Window("lhs", 2, 3, 5, 1, 1, 1)]),
    (programs.conv_depthwise_multiplier, roles("1", "034", "2", "56"), square(2, 3, 5, 1, 1, 0)),
]


@both
@pytest.mark.parametrize(
    ("make", "expected", "windows"), CONVOLUTIONS, ids=[make.__name__ for make, *_ in CONVOLUTIONS]
)
def test_convolutions(make, expected, windows, sizes):
    assert check(make(sizes), expected, windows).has_mma_shape


@pytest.mark.parametrize(("sizes", "row"), [(CONCRETE, 2), (SYMBOLIC, 3)], ids=["concrete", "symbolic"])
def test_a_grouped_convolution_has_the_groups_as_batch(sizes, row):
    # With symbolic sizes the image is read under the shape [B, G, C, Y, X], which moves the rows.
    check(programs.conv_grouped(sizes), roles("1", "034", "2", "567"), square(row, 3, 6, 1, 1, 1))


FLAGGED = [
    (programs.matrix_vector, roles("", "0", "", "1"), [], "vector"),
    (programs.vector_matrix, roles("0", "", "1", "2"), [], "vector"),
    (programs.conv_depthwise, roles("1", "023", "", "45"), square(2, 2, 4, 1, 1, 1), "depthwise"),
    (programs.conv_depthwise_of_one_image, roles("01", "23", "", "45"), square(2, 2, 4, 1, 1, 0), "depthwise"),
]


@both
@pytest.mark.parametrize(("make", "expected", "windows", "form"), FLAGGED, ids=[make.__name__ for make, *_ in FLAGGED])
def test_contractions_that_no_mma_fits(make, expected, windows, form, sizes):
    found = check(make(sizes), expected, windows)
    assert (found.form, found.has_mma_shape) == (form, False)
    assert "has no axis of its own" in found.misfit


#: The parts of merged axes, where the reshape is affine; and the roles where it is not, and is a buffer of its own.
SPLIT = [
    (programs.merged_linear, "{B} 6 3 4", roles("", "01", "2", "3"), [], roles("", "0", "1", "2")),
    (programs.merged_k, "{B} 6 3 2 4", roles("", "01", "2", "34"), [], roles("", "01", "2", "3")),
    (programs.scores_of_merged_batches, "{B} 2 6 7 4", roles("01", "2", "3", "4"), [], roles("0", "1", "2", "3")),
    (programs.repeated_heads, "{B} 2 3 6 7 4", roles("01", "23", "4", "5"), [], roles("01", "2", "3", "4")),
    (
        programs.conv_im2col,
        "{B} 8 9 5 3 3 3",
        roles("", "012", "3", "456"),
        square(2, 1, 5, 1, 1, 1),
        roles("", "0", "1", "2"),
    ),
    (programs.patchify_linear, "{B} 8 9 5 3 4 4", roles("", "012", "3", "456"), [], roles("", "01", "2", "3")),
]
split = pytest.mark.parametrize(
    ("make", "digits", "expected", "windows", "buffered"), SPLIT, ids=[make.__name__ for make, *_ in SPLIT]
)


@pytest.mark.parametrize(("sizes", "batch"), [(CONCRETE, "2"), (SYMBOLIC_BATCH, "B")], ids=["concrete", "batch"])
@split
def test_merged_axes_are_split_into_digits(make, digits, expected, windows, buffered, sizes, batch):
    found = check(make(sizes), expected, windows, digits.format(B=batch))
    assert found.has_mma_shape


#: The parts where all sizes are symbols, and the dimensions of the function's values are split by factors.
SYMBOLIC_SPLIT = {
    programs.merged_linear: "B S N K",
    programs.merged_k: "B S N H D",
    programs.scores_of_merged_batches: "B H S T D",
    programs.repeated_heads: "B G R S T D",
    programs.conv_im2col: "B Y X F C 3 3",
    programs.patchify_linear: "B Y X F C 4 4",
}


@split
def test_merged_axes_of_symbolic_sizes_are_split_with_the_dimensions(make, digits, expected, windows, buffered):
    program = make(SYMBOLIC)
    with context():
        splits = splits_of(program.function)
    assert not splits.faults
    check(program, expected, windows, SYMBOLIC_SPLIT[make], splits.of)


@split
def test_merged_axes_of_symbolic_sizes_are_one_axis_of_a_buffer(make, digits, expected, windows, buffered):
    check(make(SYMBOLIC), buffered)


def test_a_kernel_tiles_whole_axes():
    """Heads that are repeated are m by their digits; who does not split the axis B, G*R takes it as batch."""
    program = programs.repeated_heads(CONCRETE)
    found = contraction(program)
    assert found.roles == roles("01", "23", "4", "5")
    assert found.axis_roles == roles("01", "2", "3", "4")


def test_an_m_that_is_only_a_part_of_an_axis_has_no_mma_shape():
    """One row to each of the repeated heads: merged with the batch, the rows of the product are no axis."""
    sizes = Sizes(SIZES | {"S": 1})
    p = sizes.program(q="f64 B G*R D", k="f64 B G T D")
    k = p.expand(p["k"], shape=sizes.shape("B G R T D"), broadcast_dimensions=(0, 1, 3, 4))
    k = p.reshape(k, shape=sizes.shape("B G*R T D"))
    program = programs.product(p, (p["q"], "bhd"), (k, "bhtd"), "bhtd", "d")
    found = check(program, roles("01", "2", "3", "4"), digits="2 2 3 7 4")
    assert (found.form, found.has_mma_shape) == ("matrix", False)
    assert found.misfit == "m or n is a part of an axis"
