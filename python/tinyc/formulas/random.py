"""Random numbers as formulas, of Philox-4x32-10 by seed, stream and position; and what is drawn by them.

Uniform numbers are multiples of 2^-24 on [0, 1), whatever the type of the result: they are rounded at the end.
"""

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.formulas.elementwise import log
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Builder, Extents, Value
from tinyc.vocabulary.element_type import ElementType


def uniform_numbers(
    *,
    builder: Builder,
    shape: tuple[Dim, ...],
    element: ElementType,
    low: float = 0.0,
    high: float = 1.0,
    seed: int = 0,
    stream: int = 0,
) -> Value:
    """Numbers on [low, high)."""
    drawn = _rand(builder, "uniform", shape, _float(element).accumulator, seed, stream)
    return (drawn * (high - low) + low).to(element)


def normal_numbers(
    *,
    builder: Builder,
    shape: tuple[Dim, ...],
    element: ElementType,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: int = 0,
    stream: int = 0,
) -> Value:
    """Normal numbers of that mean and standard deviation."""
    drawn = _rand(builder, "normal", shape, _float(element).accumulator, seed, stream)
    return (drawn * scale + mean).to(element)


def bernoulli(p: Value, *, element: ElementType, seed: int = 0, stream: int = 0) -> Value:
    """1 with probability `p`, else 0."""
    wide = p.to(_float(p.element).accumulator)
    return (_rand(p.builder, "uniform", p.shape, wide.element, seed, stream) < wide).to(element)


def multinomial(scores: Value, *, samples: int, element: ElementType, seed: int = 0, stream: int = 0) -> Value:
    """For each row of `scores` `[rows, classes]`, so many classes, drawn with probabilities `softmax(scores)`.

    The class whose score is the greatest once Gumbel noise is added (the first of several) is one so drawn.
    """
    if scores.rank != 2:
        raise TinycError("ShapeContradiction", f"scores are [rows, classes], not {scores.type}")
    rows, classes = scores.shape
    wide = scores.to(_float(scores.element).accumulator)
    half_step = 2.0**-25  # so that no logarithm is that of 0 or of 1
    drawn = _rand(scores.builder, "uniform", (rows, samples, classes), wide.element, seed, stream)
    noise = -log(-log(drawn + half_step))
    greatest = scores.builder.add("topk", wide.unsqueeze(1) + noise, k=1, axis=2, largest=True)
    return greatest.result(1).reshape(rows, samples).to(element)


def dropout(
    x: Value, ratio: Value | None = None, training: Value | None = None, *, seed: int = 0, stream: int = 0
) -> tuple[Value, Value]:
    """`x` with elements zeroed with probability `ratio`, the others by `1 / (1 - ratio)`; and where they are kept.

    Without `training`, a bool, nothing is dropped; `ratio` is 0.5 where it is not given.
    """
    builder = x.builder
    if training is None:
        return x, builder.full(True, ElementType.BOOL, x.shape)
    wide = x.to(_float(x.element).accumulator)
    part = builder.full(0.5, wide.element, ()) if ratio is None else ratio.reshape().to(wide.element)
    part = part.where(training.reshape(), 0.0)
    kept = ~(_rand(builder, "uniform", x.shape, wide.element, seed, stream) < part)
    return (wide / (1.0 - part)).where(kept, 0.0).to(x.element), kept


def _rand(builder: Builder, distribution: str, shape: Extents, element: ElementType, seed: int, stream: int) -> Value:
    facts = {"distribution": distribution, "seed": seed, "stream": stream}
    return builder.add("rand", element=element, shape=tuple(shape), **facts)


def _float(element: ElementType) -> ElementType:
    if not element.is_float:
        raise TinycError("DtypeMismatch", f"random numbers are floats, not {element.json_name}; cast them")
    return element


FORMULAS: dict[str, Function | dict[str, Function]] = {
    "dropout": dropout,
    "multinomial": multinomial,
    "random": {"bernoulli": bernoulli, "normal": normal_numbers, "uniform": uniform_numbers},
}
