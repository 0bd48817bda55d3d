"""Activations that are spelt as several ops."""

import math

import pytest

from analysis_programs.tiny_programs import Program
from tinyc.analysis.activation import activation_of
from tinyc.dialects.registry import context


class Formula:
    """A program over one argument x, whose numbers may be written as such."""

    def __init__(self, element: str = "f32") -> None:
        self.p, self.element = Program(x=f"{element} 4"), element
        self.x = self.p["x"]

    def __call__(self, op: str, *operands):
        numbers = [self._number(each) if isinstance(each, float) else each for each in operands]
        return self.p.op(op, *numbers)

    def _number(self, value: float):
        return self.p.const(shape="4", value=value, element=self.element)


def tanh_gelu(do: Formula, scale: float = 0.044715):
    cube = do("mul", do("mul", do.x, do.x), do.x)
    inner = do("mul", do("add", do.x, do("mul", cube, scale)), math.sqrt(2 / math.pi))
    return do("mul", do("mul", do.x, 0.5), do("add", do("tanh", inner), 1.0))


def erf_gelu(do: Formula):
    return do("mul", 0.5, do("mul", do("add", 1.0, do("erf", do("mul", do.x, math.sqrt(0.5)))), do.x))


def silu(do: Formula):
    return do("mul", do.x, do("recip", do("add", do("exp2", do("mul", do.x, -math.log2(math.e))), 1.0)))


def silu_by_division(do: Formula):
    return do("fdiv", do.x, do("add", 1.0, do("exp2", do("mul", do("neg", do.x), math.log2(math.e)))))


def name(do: Formula, value) -> str | None:
    do.p.result(value)
    with context():
        found = activation_of(value)
    return None if found is None else found.name


@pytest.mark.parametrize(
    ("form", "expected"), [(tanh_gelu, "gelu"), (erf_gelu, "gelu"), (silu, "silu"), (silu_by_division, "silu")]
)
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_the_usual_forms_are_recognised(form, expected, element):
    do = Formula(element)
    assert name(do, form(do)) == expected


def test_another_constant_makes_another_function():
    do = Formula()
    assert name(do, tanh_gelu(do, 0.05)) is None


def test_its_operand_is_where_the_form_begins():
    do = Formula()
    do.x = do("neg", do.x)
    result = silu(do)
    do.p.result(result)
    with context():
        assert activation_of(result).operand == do.x


def test_casts_between_its_ops_do_not_hide_it():
    do = Formula("f16")
    wide = do.p.cast(do.x, element="f32")
    do.element, do.x = "f32", wide
    assert name(do, silu(do)) == "silu"


def test_a_value_that_is_needed_elsewhere_keeps_the_ops_apart():
    do = Formula()
    sigmoid = do("recip", do("add", do("exp2", do("mul", do.x, -math.log2(math.e))), 1.0))
    product = do("mul", do.x, sigmoid)
    do.p.result(product, sigmoid)
    with context():
        assert activation_of(product) is None


def test_a_product_is_no_activation():
    do = Formula()
    assert name(do, do("mul", do.x, 0.5)) is None
