"""Activations that are piecewise linear, or rational, as formulas; those with exponentials are in `exponential`."""

from tinyc.diagnostics import TinycError
from tinyc.formulas.elementwise import absolute, of_floats
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value, broadcast_shape
from tinyc.vocabulary.element_type import ElementType


@of_floats
def hard_sigmoid(x: Value, *, alpha: float = 0.2, beta: float = 0.5) -> Value:
    """`alpha x + beta`, cut to 0 … 1."""
    return (x * alpha + beta).apply("min", 1).apply("max", 0)


@of_floats
def _hard_swish(x: Value) -> Value:
    """`x` times `x / 6 + 1/2`, cut to 0 … 1."""
    return x * hard_sigmoid(x, alpha=1 / 6, beta=0.5)


@of_floats
def leaky_relu(x: Value, *, alpha: float = 0.01) -> Value:
    """`x` above 0, `alpha x` below."""
    return (x * alpha).where(x < 0, x)


def _prelu(x: Value, y: Value) -> Value:
    """`x` above 0, `y x` below, where `y`, the slopes, broadcasts to `x`."""
    if broadcast_shape([x.shape, y.shape]) != x.shape:
        raise TinycError("BroadcastMismatch", f"the slopes {y.type} do not broadcast to {x.type}")
    wide = x.element.accumulator
    return (x.to(wide) * y.to(wide)).to(x.element).where(x < 0, x)


def _shrink(x: Value, *, lambd: float = 0.5, bias: float = 0.0) -> Value:
    """`x + bias` below `-lambd`, `x - bias` above `lambd`, 0 between; integers are computed in f64."""
    wide = x.to(x.element.accumulator if x.element.is_float else ElementType.F64)
    zero = wide.builder.full(0, wide.element, wide.shape)
    return (wide + bias).where(wide < -lambd, (wide - bias).where(wide > lambd, zero)).to(x.element)


@of_floats
def thresholded_relu(x: Value, *, alpha: float = 1.0) -> Value:
    """`x` above `alpha`, else 0."""
    return x.where(x > alpha, 0)


@of_floats
def softsign(x: Value) -> Value:
    """`x / (1 + |x|)`."""
    return x / (absolute(x) + 1)


FORMULAS: dict[str, dict[str, Function]] = {
    "elementwise": {
        "hard_sigmoid": hard_sigmoid,
        "hard_swish": _hard_swish,
        "leaky_relu": leaky_relu,
        "prelu": _prelu,
        "shrink": _shrink,
        "thresholded_relu": thresholded_relu,
        "softsign": softsign,
    }
}
