"""Contraction detection: the roles of the axes, the operands' accesses, and what is refused."""

import pytest
from tiny_programs import Program, gemm_bias_relu

from tinyc.analysis.contraction import Contraction, Rejected, Roles, Window, detect
from tinyc.mlir import context


def detect_reduce(program: Program) -> Contraction | Rejected:
    """Detect the program's last reduce."""
    (*_, reduce) = (op for op in program.block.operations if op.operation.name == "tiny.reduce")
    with context():
        return detect(reduce)


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


def test_running_example_is_a_matrix_product():
    p = gemm_bias_relu()
    found = contraction(p)
    assert found.pattern == "matmul"
    assert found.roles == Roles(batch=(), m=(0,), n=(1,), k=(2,), broadcast=())
    assert maps(found) == (["i0", "i2"], ["i2", "i1"])
    assert (found.lhs.source, found.rhs.source) == (p["X"], p["W"])


def test_axes_in_both_operands_that_are_kept_are_batch():
    p = Program(A="f16 B M K", B="f16 B K N")
    found = contraction(matmul(p, p["A"], p["B"], (0, 1, 3), (0, 3, 2), "B M N K", 3))
    assert found.roles == Roles(batch=(0,), m=(1,), n=(2,), k=(3,), broadcast=())


def test_a_batch_that_only_one_operand_has_is_m():
    p = Program(A="f16 B M K", B="f16 K N")
    found = contraction(matmul(p, p["A"], p["B"], (0, 1, 3), (3, 2), "B M N K", 3))
    assert found.roles == Roles(batch=(), m=(0, 1), n=(2,), k=(3,), broadcast=())


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


def test_padding_with_another_value_than_zero_is_refused():
    assert detect_reduce(convolution(1, 1, 1, 1.0)) == Rejected("the left operand is padded with 1.0, not 0")


def gram(p: Program) -> None:
    x = p["x"]
    matmul(p, x, x, (0, 2), (1, 2), "M M K", 2)


def test_a_matrix_times_its_transpose_is_a_matrix_product():
    p = Program(x="f16 M K")
    gram(p)
    assert contraction(p).roles == Roles(batch=(), m=(0,), n=(1,), k=(2,), broadcast=())


def _square(p):
    p.sum(p.mul(p["x"], p["x"]), 1)


def _outer(p):
    matmul(p, p["x"], p["y"], (0, 2), (1, 2), "M M K K", 3)


def _vector(p):
    matmul(p, p["x"], p["v"], (0, 1), (1,), "M K", 1)


def _flipped(p):
    matmul(p, p.flip(p["x"], axes=(1,)), p["y"], (0, 2), (1, 2), "M M K", 2)


def _shared_product(p):
    product = p.mul(p["x"], p["y"])
    p.relu(product)
    p.sum(product, 1)


def _maximum(p):
    p.op("reduce", p.mul(p["x"], p["y"]), op="max", axes=(1,), element="f16")


def _no_product(p):
    p.sum(p["x"], 1)


REFUSED = [
    (_square, "neither operand has an axis of its own: a dot product"),
    (_outer, "the summed axis i3 is in neither operand"),
    (_vector, "the right operand has no axis of its own: a matrix-vector product"),
    (_flipped, "the left operand is read backwards (-i2 + K - 1)"),
    (_shared_product, "the product has other uses"),
    (_maximum, "the reduction is a max, not a sum"),
    (_no_product, "the operand is no product"),
]


@pytest.mark.parametrize(("make", "reason"), REFUSED, ids=[make.__name__[1:] for make, _ in REFUSED])
def test_refused(make, reason):
    p = Program(x="f16 M K", y="f16 M K", v="f16 K")
    make(p)
    assert detect_reduce(p) == Rejected(reason)


def test_a_diagonal_is_refused():
    p = Program(x="f16 4 4", y="f16 4 5")
    diagonal = p.view(p["x"], shape="4", map=(axis(0), axis(0)))
    matmul(p, diagonal, p["y"], (1,), (1, 0), "5 4", 1)
    assert "diagonal" in detect_reduce(p).reason


def axis(position: int):
    from tinyc.analysis.index_map import Axis

    return Axis(position)
