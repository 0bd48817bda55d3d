"""Reductions as formulas, and what is made of them along an axis: softmax."""

from tinyc.formulas.elementwise import exp, of_floats
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value


def _reduce(op: str) -> Function:
    def reduce(x: Value, *, axes: tuple[int, ...] | None = None, keepdims: bool = False) -> Value:
        every = tuple(range(x.rank)) if axes is None else axes
        return x.reduce(op, *every, keep=keepdims).to(x.element) if every else x

    reduce.__doc__ = f"The {op} over `axes`, accumulated in f32 for 16-bit floats."
    return reduce


@of_floats
def softmax(x: Value, *, axis: int = -1) -> Value:
    """`exp(x - max) / sum of exp(x - max)` along an axis: with the maximum taken off, exp does not overflow."""
    axis = x.axis(axis)
    terms = exp(x - x.reduce("max", axis, keep=True))
    return terms / terms.reduce("sum", axis, keep=True)


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "softmax": softmax,
    "reduce": {"sum": _reduce("sum"), "max": _reduce("max"), "min": _reduce("min"), "prod": _reduce("prod")},
}
