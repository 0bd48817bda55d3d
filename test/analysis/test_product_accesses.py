"""Where the elements of a product's operands and results are, by buffers, offsets and strides."""

from typing import Any

import pytest

from analysis_programs.region_kernels import matmul, one_kernel
from analysis_programs.tiny_programs import Program, gemm_bias_relu
from tinyc.analysis.candidate import MatrixProduct
from tinyc.analysis.kernel_candidate import kernel_candidate
from tinyc.analysis.strided_access import Side, StridedAccess
from tinyc.dialects.registry import context
from tinyc.vocabulary.element_type import ElementType


def product_of(program: Program) -> MatrixProduct:
    with context():
        product = kernel_candidate(one_kernel(program), {}).product
    assert product is not None
    return product


def shown(side: Side) -> str:
    return " ".join(f"{run.extent}:{run.stride}" for run in side)


def sides(access: StridedAccess | str) -> tuple[str, str, str]:
    """Rows, columns and batch, each with its runs as extent:stride."""
    assert isinstance(access, StridedAccess), access
    return shown(access.rows), shown(access.columns), shown(access.batch)


def test_the_running_example():
    product = product_of(gemm_bias_relu())
    assert sides(product.lhs.access) == ("M:K", "K:1", "")
    assert sides(product.rhs.access) == ("K:N", "N:1", "")
    assert [sides(each) for each in product.results] == [("M:N", "N:1", "")]
    assert (product.lhs.access.buffer, product.rhs.access.buffer, product.results[0].buffer) == (0, 1, 3)
    assert (product.lhs.access.element, product.lhs.exact) == ("f16", ("f16",))


def transposed(p: Program, lhs: str, rhs: str) -> Any:
    """A product of A [k, m] and B [n, k]."""
    return matmul(p, p.permute(p[lhs], perm=(1, 0)), p.permute(p[rhs], perm=(1, 0)))


def test_transposed_operands_are_contiguous_along_the_other_side():
    p = Program(A="f16 K M", B="f16 N K")
    product = product_of(p.result(transposed(p, "A", "B")))
    assert sides(product.lhs.access) == ("M:1", "K:M", "")
    assert sides(product.rhs.access) == ("K:1", "N:K", "")
    assert (product.lhs.access.contiguous, product.rhs.access.contiguous) == ("rows", "rows")


def test_a_batch_has_its_stride_and_a_broadcast_one_has_none():
    p = Program(A="f16 B M K", W="f16 B K N")
    product = product_of(p.result(matmul(p, p["A"], p["W"], "B M N K", batch=True)))
    assert sides(product.lhs.access) == ("M:K", "K:1", "B:K*M")
    p = Program(A="f16 B M K", W="f16 1 K N")
    rhs = p.expand(p["W"], shape="B K N", broadcast_dimensions=(0, 1, 2))
    product = product_of(p.result(p.exp2(matmul(p, p["A"], rhs, "B M N K", batch=True))))
    assert product.batch == 1  # what the batch shares is one matrix: its rows run on
    assert sides(product.lhs.access) == ("B*M:K", "K:1", "")


def test_axes_that_do_not_run_on_are_runs_of_their_own():
    p = Program(A="f16 B H M D", W="f16 H D N")  # the heads of an output projection are part of k
    lhs = p.expand(p["A"], shape="B M N H D", broadcast_dimensions=(0, 3, 1, 4))
    rhs = p.expand(p["W"], shape="B M N H D", broadcast_dimensions=(3, 4, 2))
    product = product_of(p.result(p.sum(p.mul(lhs, rhs), 3, 4)))
    assert sides(product.lhs.access) == ("B:D*H*M M:D", "H:D*M D:1", "")
    assert sides(product.rhs.access) == ("D*H:N", "N:1", "")


def test_a_slice_begins_at_an_offset():
    p = Program(A="f16 64 96", W="f16 32 N")
    middle = p.shrink(p["A"], lo=(2, 32), hi=(64, 64), step=(1, 1))
    access = product_of(p.result(matmul(p, middle, p["W"], "62 N 32"))).lhs.access
    assert sides(access) == ("62:96", "32:1", "")
    assert access.offset == 2 * 96 + 32


def test_a_batch_that_neither_operand_is_read_along_has_the_stride_zero():
    p = Program(A="f16 M K", W="f16 K N")
    lhs = p.expand(p["A"], shape="5 M N K", broadcast_dimensions=(1, 3))
    rhs = p.expand(p["W"], shape="5 M N K", broadcast_dimensions=(3, 2))
    product = product_of(p.result(p.sum(p.mul(lhs, rhs), 3)))
    assert sides(product.lhs.access) == ("M:K", "K:1", "5:0")


def test_widening_casts_leave_the_narrow_elements_where_they_are():
    p = Program(A="i8 M K", W="i8 K N")
    lhs, rhs = (p.cast(p[name], element="i32") for name in "AW")
    product = product_of(p.result(matmul(p, lhs, rhs, element="i32")))
    assert (product.lhs.element, product.lhs.exact) == ("i32", ("i32", "i8"))
    assert product.lhs.access.element == "i8"
    assert product.accumulator == "i32"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda p: p.cast(p["A"], element="f16"), "its elements are computed: cast"),
        (lambda p: p.exp2(p["A"]), "its elements are computed: exp2"),
        (lambda p: p.pad(p["A"], lo=(1, 0), hi=(0, 0), value=0.0), "it is padded"),
    ],
)
def test_what_is_not_read_as_it_lies_says_why(make, reason):
    p = Program(A="f32 7 K", W="f32 K N")
    lhs = make(p)
    rows = 8 if reason == "it is padded" else 7
    rhs = p.cast(p["W"], element="f16") if "cast" in reason else p["W"]
    product = product_of(p.result(matmul(p, lhs, rhs, f"{rows} N K")))
    assert product.lhs.access == reason


def test_a_result_that_is_transposed_is_contiguous_along_the_rows():
    p = Program(A="f16 M K", W="f16 K N")
    moved = p.permute(matmul(p, p["A"], p["W"]), perm=(1, 0))
    (result,) = product_of(p.result(moved)).results
    assert sides(result) == ("M:1", "N:M", "")
    assert result.contiguous == "rows"


def source_of(program: Program) -> tuple[int, str, str] | None:
    """The buffer from whose elements the left operand's are computed, and its rows and columns."""
    source = product_of(program).lhs.source
    return None if source is None else (source.buffer, *sides(source)[:2])


def test_an_operand_is_computed_from_the_one_tensor_that_has_an_element_for_each():
    p = Program(s="f16 K", A="i8 K M", W="f16 K N")
    wide = p.cast(p.permute(p["A"], perm=(1, 0)), element=ElementType.F16)
    scaled = p.mul(wide, p.expand(p["s"], shape="M K", broadcast_dimensions=(1,)))
    assert source_of(p.result(matmul(p, p.relu(scaled), p["W"]))) == (1, "M:1", "K:M")
    p = Program(A="f16 M K", W="f16 K N")
    assert source_of(p.result(matmul(p, p["A"], p["W"]))) == (0, "M:K", "K:1")


def test_an_operand_of_two_tensors_or_of_two_places_has_no_source():
    p = Program(A="f16 M K", G="f16 M K", W="f16 K N")
    assert source_of(p.result(matmul(p, p.mul(p["A"], p["G"]), p["W"]))) is None
    p = Program(A="f16 M M", W="f16 M N")
    both = p.add(p["A"], p.permute(p["A"], perm=(1, 0)))
    assert source_of(p.result(matmul(p, both, p["W"], "M N M"))) is None


def test_of_operands_of_one_row_the_first_is_the_source():
    p = Program(A="f16 1 K", G="f16 1 K", W="f16 K N")
    assert source_of(p.result(matmul(p, p.mul(p["A"], p["G"]), p["W"], "1 N K"))) == (0, "", "K:1")
