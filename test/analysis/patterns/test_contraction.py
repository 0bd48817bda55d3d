"""Contraction detection: where operands end, what axes of extent 1 do, and what rows of several axes are.

The listed products are in `test_contraction_patterns`, what is refused in `test_contraction_rejections`.
"""

import pytest

from analysis_programs.tiny_programs import Program, gemm_bias_relu, tensor
from tinyc.analysis.patterns.contraction import Contraction, Reason, Rejected, Roles, Window, detect_contraction
from tinyc.analysis.patterns.contraction.facts import contraction_facts
from tinyc.dialects.registry import context


def detect_reduce(program: Program) -> Contraction | Rejected:
    """Detect the program's last reduce."""
    with context():
        return detect_contraction(program.last_reduce)


def contraction(program: Program) -> Contraction:
    found = detect_reduce(program)
    assert isinstance(found, Contraction), found
    return found


def maps(found: Contraction) -> tuple[list[str], list[str]]:
    return [str(row) for row in found.lhs.map], [str(row) for row in found.rhs.map]


def matmul(p: Program, lhs, rhs, lhs_axes, rhs_axes, shape: str, *summed: int) -> Program:
    """Multiply the operands, each expanded to `shape`, and sum."""
    left = p.expand(lhs, shape=shape, broadcast_dimensions=lhs_axes)
    right = p.expand(rhs, shape=shape, broadcast_dimensions=rhs_axes)
    p.sum(p.mul(left, right), *summed)
    return p


def shape(text: str):
    return tensor(f"f16 {text}").shape


def test_running_example_is_a_matrix_product():
    p = gemm_bias_relu()
    found = contraction(p)
    assert found.pattern == "matmul"
    assert found.roles == Roles(batch=(), m=(0,), n=(1,), k=(2,), broadcast=())
    assert maps(found) == (["i0", "i2"], ["i2", "i1"])
    assert (found.lhs.source, found.rhs.source) == (p["X"], p["W"])


def test_widening_casts_of_the_operands_are_seen_through():
    p = Program(A="i8 M K", B="i8 K N")
    left, right = (p.cast(p[name], element="i32") for name in "AB")
    found = contraction(matmul(p, left, right, (0, 2), (2, 1), "M N K", 2))
    assert (found.lhs.source, found.rhs.source) == (p["A"], p["B"])


def test_a_narrowing_cast_is_the_source():
    p = Program(A="f32 M K", B="f16 K N")
    narrow = p.cast(p["A"], element="f16")
    assert contraction(matmul(p, narrow, p["B"], (0, 2), (2, 1), "M N K", 2)).lhs.source == narrow


def test_a_reshape_with_a_symbolic_stride_is_the_source():
    p = Program(A="f16 M*K", B="f16 K N")
    reshaped = p.reshape(p["A"], shape="M K")
    assert contraction(matmul(p, reshaped, p["B"], (0, 2), (2, 1), "M N K", 2)).lhs.source == reshaped


@pytest.mark.parametrize("shape", [(1, 1, 1), (1, 5, 3), (7, 1, 3), (7, 5, 1)])
def test_extents_of_one_keep_their_roles(shape):
    m, n, k = shape
    p = Program(A=f"f16 {m} {k}", B=f"f16 {k} {n}")
    found = contraction(matmul(p, p["A"], p["B"], (0, 2), (2, 1), f"{m} {n} {k}", 2))
    assert found.roles == Roles(batch=(), m=(0,), n=(1,), k=(2,), broadcast=())


def convolution(stride: int, dilation: int, pad: int, value: float = 0.0) -> Program:
    """A one-dimensional convolution: x [C, L], w [F, C, 3]."""
    p = Program(x="f16 8 32", w="f16 4 8 3")
    x = p.pad(p["x"], lo=(0, pad), hi=(0, pad), value=value)
    windows = p.pool(x, kernel=(3,), stride=(stride,), dilation=(dilation,))
    out = (32 + 2 * pad - dilation * 2 - 1) // stride + 1
    return matmul(p, windows, p["w"], (1, 2, 3), (0, 1, 3), f"4 8 {out} 3", 1, 3)


@pytest.mark.parametrize(("stride", "dilation", "pad"), [(1, 1, 0), (1, 1, 1), (2, 1, 1), (2, 2, 2)])
def test_sliding_windows_make_a_convolution(stride, dilation, pad):
    found = contraction(convolution(stride, dilation, pad))
    assert found.pattern == "conv"
    assert found.roles == Roles(batch=(), m=(2,), n=(0,), k=(1, 3), broadcast=())
    assert found.windows == (Window("lhs", 1, 2, 3, stride, dilation, pad),)


def test_windows_as_far_apart_as_they_are_wide_are_a_matrix_product():
    assert contraction(convolution(3, 1, 0)).pattern == "matmul"


def test_padded_windows_as_far_apart_as_they_are_wide_are_a_convolution():
    assert contraction(convolution(3, 1, 1)).pattern == "conv"


def test_windows_further_apart_than_they_are_wide_are_a_convolution():
    found = contraction(convolution(4, 1, 0))
    assert found.windows == (Window("lhs", 1, 2, 3, stride=4, dilation=1, pad=0),)


def test_rows_with_gaps_are_no_windows_where_no_part_of_them_is_summed():
    p = Program(x="f16 6 K", y="f16 K N")
    rows = p.shrink(p.reshape(p["x"], shape="2 3 K"), lo=(0, 0, 0), hi=shape("2 2 K"), step=(1, 1, 1))
    found = contraction(matmul(p, rows, p["y"], (0, 1, 3), (3, 2), "2 2 N K", 3))
    assert (maps(found)[0], found.pattern) == (["3*i0 + i1", "i3"], "matmul")
    assert found.roles == Roles(batch=(), m=(0, 1), n=(2,), k=(3,), broadcast=())


def test_the_facts_name_the_parts_of_a_split_axis():
    p = Program(x="f16 B 3 2 K", w="f16 K N")
    rows = p.reshape(p.permute(p["x"], perm=(0, 2, 1, 3)), shape="6*B K")
    found = contraction(matmul(p, rows, p["w"], (0, 2), (2, 1), "6*B N K", 2))
    facts = contraction_facts(found, ("i0", "n", "k"))
    assert facts["digits"] == {"i0": ["B", "2", "3"]}
    assert facts["lhs_idx"] == ["i0.0", "i0.1", "i0.2", "k"]
    assert (facts["rhs_idx"], facts["pattern"], facts["form"]) == (["k", "n"], "matmul", "matrix")


def test_a_division_that_does_not_divide_the_axis_is_no_cut():
    """Rows of 5 under an axis of 12: the last row is not full."""
    p = Program(x="f16 3 5 K", w="f16 K N")
    rows = p.shrink(p.reshape(p["x"], shape="15 K"), lo=(0, 0), hi=shape("12 K"), step=(1, 1))
    found = detect_reduce(matmul(p, rows, p["w"], (0, 2), (2, 1), "12 N K", 2))
    assert isinstance(found, Rejected)
    assert (found.code, found.axes) == (Reason.UNSPLIT_FLOOR, (0,))
