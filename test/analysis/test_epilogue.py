"""What follows a sum of products: the ops by name, and how the inputs that they read follow the output tile."""

import pytest

from analysis_programs.region_kernels import matmul, one_kernel
from analysis_programs.tiny_programs import Program
from tinyc.analysis.epilogue import Epilogue, epilogue_of
from tinyc.analysis.patterns.contraction import detect_contraction
from tinyc.dialects.registry import context
from tinyc.dialects.tiny import ops as tiny


def epilogue(p: Program, result) -> Epilogue:
    with context():
        kernel = one_kernel(p.result(result))
        (yielding,) = kernel.yields
        (reduction,) = (op for op in kernel.body if isinstance(op, tiny.ReduceOp))
        return epilogue_of(detect_contraction(reduction), [yielding.value])


def with_operand(extents: str, dimensions: tuple[int, ...], op: str = "add") -> Epilogue:
    """Return the epilogue that combines the sum with an operand expanded to it."""
    p = Program(a="f32 M K", b="f32 K N", c=f"f32 {extents}")
    operand = p.expand(p["c"], shape="M N", broadcast_dimensions=dimensions)
    return epilogue(p, p.op(op, matmul(p, p["a"], p["b"]), operand))


@pytest.mark.parametrize(
    ("extents", "dimensions", "kind", "word"),
    [
        ("N", (1,), "column", "bias"),
        ("M", (0,), "row", "bias"),
        ("M N", (0, 1), "full", "residual"),
        ("", (), "scalar", "add"),
    ],
)
def test_an_added_operand_is_told_by_the_axes_that_it_varies_along(extents, dimensions, kind, word):
    found = with_operand(extents, dimensions)
    assert found.ops == (word,)
    assert list(found.inputs) == [kind]


def test_a_bias_is_added_and_not_subtracted():
    assert with_operand("N", (1,), "sub").ops == ("sub",)


def test_a_plain_sum_has_no_epilogue():
    p = Program(a="f32 M K", b="f32 K N")
    assert epilogue(p, matmul(p, p["a"], p["b"])) == Epilogue((), ())


def test_casts_and_movements_are_not_listed():
    p = Program(a="f16 M K", b="f16 K N", bias="f16 N")
    bias = p.expand(p.cast(p["bias"], element="f32"), shape="M N", broadcast_dimensions=(1,))
    relu = p.relu(p.add(matmul(p, p["a"], p["b"]), bias))
    assert epilogue(p, p.cast(relu, element="f16")).ops == ("bias", "relu")


def test_ops_are_in_program_order():
    p = Program(a="f32 M K", b="f32 K N", c="f32 M N")
    found = epilogue(p, p.add(p.tanh(p.neg(matmul(p, p["a"], p["b"]))), p["c"]))
    assert found.ops == ("neg", "tanh", "residual")


def test_an_added_constant_is_no_bias():
    p = Program(a="f32 M K", b="f32 K N")
    one = p.const(shape="M N", value=1.0, element="f32")
    assert epilogue(p, p.add(matmul(p, p["a"], p["b"]), one)) == Epilogue(("add",), ())


def test_the_batch_moves_no_tile():
    p = Program(a="f32 B M K", b="f32 B K N", c="f32 B N", d="f32 B")
    column = p.expand(p["c"], shape="B M N", broadcast_dimensions=(0, 2))
    scalar = p.expand(p["d"], shape="B M N", broadcast_dimensions=(0,))
    found = epilogue(p, p.mul(p.add(matmul(p, p["a"], p["b"], "B M N K", batch=True), column), scalar))
    assert found.ops == ("bias", "mul")
    assert list(found.inputs) == ["column", "scalar"]


def test_an_input_read_in_two_ways_is_a_gather():
    p = Program(a="f32 M K", b="f32 K M", c="f32 M")
    row, column = (p.expand(p["c"], shape="M M", broadcast_dimensions=(axis,)) for axis in (0, 1))
    found = epilogue(p, p.add(p.add(matmul(p, p["a"], p["b"], "M M K"), row), column))
    assert found.ops == ("bias", "bias")
    assert list(found.inputs) == ["gather"]


def test_inputs_below_a_gather_are_gathers():
    p = Program(a="f32 M K", b="f32 K N", table="f32 5 N", rows="i64 M")
    chosen = p.gather(p["table"], p["rows"], axis=0)
    found = epilogue(p, p.add(matmul(p, p["a"], p["b"]), chosen))
    assert found.ops == ("add",)
    assert list(found.inputs) == ["gather", "gather"]


def test_an_operand_that_is_computed_is_followed_to_its_inputs():
    p = Program(a="f32 M K", b="f32 K N", c="f32 M N", d="f32 N")
    scaled = p.mul(p["c"], p.expand(p["d"], shape="M N", broadcast_dimensions=(1,)))
    found = epilogue(p, p.add(matmul(p, p["a"], p["b"]), scaled))
    assert found.ops == ("mul", "add")
    assert list(found.inputs) == ["full", "column"]


def test_an_activation_is_one_op():
    p = Program(a="f32 M K", b="f32 K N")
    y = matmul(p, p["a"], p["b"])
    scale, one = (p.const(shape="M N", value=value, element="f32") for value in (-1.442695, 1.0))
    silu = p.mul(y, p.recip(p.add(p.exp2(p.mul(y, scale)), one)))
    assert epilogue(p, p.neg(silu)).ops == ("silu", "neg")


def test_what_another_result_is_made_of_is_an_input():
    p = Program(a="f32 M K", b="f32 K N", c="f32 M N")
    other = p.neg(p["c"])
    product = matmul(p, p["a"], p["b"])
    with context():
        kernel = one_kernel(p.result(p.relu(product), other))
        (reduction,) = (op for op in kernel.body if isinstance(op, tiny.ReduceOp))
        found = epilogue_of(detect_contraction(reduction), [each.value for each in kernel.yields])
    assert list(found.inputs) == ["full"]
