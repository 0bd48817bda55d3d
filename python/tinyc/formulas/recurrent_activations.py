"""Activations of recurrent layers by name, each with two numbers that some of them take."""

from collections.abc import Callable
from typing import TypeAlias

from tinyc.diagnostics import TinycError, either
from tinyc.formulas.activations import hard_sigmoid, leaky_relu, softsign, thresholded_relu
from tinyc.formulas.elementwise import sigmoid
from tinyc.formulas.exponential import elu, softplus
from tinyc.formulas.value import Value

ClippedFunction: TypeAlias = Callable[[Value], Value]


#: Name → the function of a value and the two numbers.
ACTIVATIONS: dict[str, Callable[[Value, float, float], Value]] = {
    "affine": lambda x, alpha, beta: x * alpha + beta,
    "elu": lambda x, alpha, beta: elu(x, alpha=alpha),
    "hard_sigmoid": lambda x, alpha, beta: hard_sigmoid(x, alpha=alpha, beta=beta),
    "leaky_relu": lambda x, alpha, beta: leaky_relu(x, alpha=alpha),
    "relu": lambda x, alpha, beta: x.apply("relu"),
    "scaled_tanh": lambda x, alpha, beta: (x * beta).apply("tanh") * alpha,
    "sigmoid": lambda x, alpha, beta: sigmoid(x),
    "softplus": lambda x, alpha, beta: softplus(x),
    "softsign": lambda x, alpha, beta: softsign(x),
    "tanh": lambda x, alpha, beta: x.apply("tanh"),
    "thresholded_relu": lambda x, alpha, beta: thresholded_relu(x, alpha=alpha),
}
#: What `alpha` and `beta` are where they are not given.
DEFAULTS: dict[str, tuple[float, float]] = {
    "affine": (1.0, 0.0),
    "elu": (1.0, 0.0),
    "hard_sigmoid": (0.2, 0.5),
    "leaky_relu": (0.01, 0.0),
    "scaled_tanh": (1.0, 1.0),
    "thresholded_relu": (1.0, 0.0),
}


def activations_of(
    names: tuple[str, ...],
    alpha: tuple[float, ...],
    beta: tuple[float, ...],
    clip: float | None,
    count: int,
    directions: int,
) -> list[list[ClippedFunction]]:
    """For each direction its `count` activations, of operands that are clipped to `[-clip, clip]`.

    Names for one direction stand for all; `alpha` and `beta` have a number for each name, or none.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    if len(names) not in (count, count * directions):
        message = f"activations are {list(names)}; there are {count} for each of the {directions} directions"
        raise TinycError("InvalidAttribute", message)
    unknown = [name for name in names if name not in ACTIVATIONS]
    if unknown:
        raise TinycError("InvalidAttribute", f"activation {unknown[0]!r} is not known; it is {either(ACTIVATIONS)}")
    for label, numbers in (("alpha", alpha), ("beta", beta)):
        if len(numbers) not in (0, len(names)):
            message = f"{label} has {len(numbers)} numbers for {len(names)} activations; it has one for each, or none"
            raise TinycError("InvalidAttribute", message)
    found: list[ClippedFunction] = []
    for at, name in enumerate(names):
        a, b = DEFAULTS.get(name, (0.0, 0.0))
        found.append(_activation(name, alpha[at] if alpha else a, beta[at] if beta else b, clip))
    found *= count * directions // len(found)
    return [found[at * count : (at + 1) * count] for at in range(directions)]


def _activation(name: str, alpha: float, beta: float, clip: float | None) -> ClippedFunction:
    def apply(x: Value) -> Value:
        held = x if clip is None else x.apply("max", -clip).apply("min", clip)
        return ACTIVATIONS[name](held, alpha, beta)

    return apply
