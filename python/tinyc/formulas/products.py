"""Contractions as formulas: `mul` and `reduce` over expanded operands, which the analyses recognise.

A sum of products is formed in the accumulator's type, f32 for 16-bit floats, 32 bits for small integers, and rounded
to the type of the operands once.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from tinyc.diagnostics import TinycError
from tinyc.expr.axes import Axis, term
from tinyc.formulas.schema import Function
from tinyc.formulas.value import Value, broadcast_shape
from tinyc.vocabulary.element_type import ElementType

# --- matrices ---------------------------------------------------------------------------------------------------------


def matmul(a: Value, b: Value) -> Value:
    """The sum over k of `a[…, m, k] · b[…, k, n]`; leading axes broadcast.

    A vector is a row on the left, a column on the right. Accumulated in f32 for 16-bit floats, in 32 bits for small
    integers, and rounded to the type of the operands.
    """
    if not a.rank or not b.rank:
        raise TinycError("BroadcastMismatch", f"matmul takes vectors, matrices or stacks, not {a.type} and {b.type}")
    a.match(-1, b, -2 if b.rank > 1 else 0)
    left = a.unsqueeze(0) if a.rank == 1 else a
    right = b.unsqueeze(1) if b.rank == 1 else b
    product = _product(left, right).to(a.element)
    dropped = {product.rank - 2} if a.rank == 1 else set[int]()
    dropped |= {product.rank - 1} if b.rank == 1 else set()
    return product.reshape(*(extent for axis, extent in enumerate(product.shape) if axis not in dropped))


def gemm(
    a: Value,
    b: Value,
    c: Value | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    trans_a: bool = False,
    trans_b: bool = False,
) -> Value:
    """`alpha · a · b + beta · c` for matrices, each as it is or transposed; c broadcasts. Rounded once."""
    if a.rank != 2 or b.rank != 2:
        raise TinycError("BroadcastMismatch", f"gemm takes two matrices, not {a.type} and {b.type}")
    a.match(0 if trans_a else 1, b, 1 if trans_b else 0)
    left = a.permute(1, 0) if trans_a else a
    right = b.permute(1, 0) if trans_b else b
    total = _scaled(_product(left, right), alpha)
    if c is not None and beta != 0:
        shape = total.shape
        total = total + _scaled(c.to(total.element), beta)
        if total.shape != shape:
            raise TinycError("BroadcastMismatch", f"{c.type} does not broadcast to the product's {list(shape)}")
    return total.to(a.element)


def _product(a: Value, b: Value) -> Value:
    """The product of matrices, or stacks of them, that have the axis in common, in the accumulator's type."""
    lead = broadcast_shape([a.shape[:-2], b.shape[:-2]])
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    lhs = a.unsqueeze(-2).expand((*lead, m, n, k))
    rhs = b.permute(*range(b.rank - 2), b.rank - 1, b.rank - 2).unsqueeze(-3).expand((*lead, m, n, k))
    return (lhs * rhs).reduce("sum", -1, element=product_accumulator(a.element))


def _scaled(x: Value, factor: float) -> Value:
    if factor == 1:
        return x
    if not x.element.is_float and not float(factor).is_integer():
        raise TinycError("InvalidAttribute", f"a factor of {factor} for numbers of {x.element.json_name}; it is whole")
    return x * factor


def product_accumulator(element: ElementType) -> ElementType:
    """The type in which products are added up: one that small numbers do not overflow."""
    if element.is_integer and element.bits < 32:
        return ElementType.I32 if element.is_signed else ElementType.UI32
    return element.accumulator


# --- einsum -----------------------------------------------------------------------------------------------------------

_ELLIPSIS = "..."


@dataclass(frozen=True)
class EinsumEquation:
    """An equation of einsum with its result written out: a label for each axis, `...` for those without one."""

    terms: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]

    def __str__(self) -> str:
        return f"{','.join(map(''.join, self.terms))}->{''.join(self.result)}"


def parse_einsum(text: str, operands: int) -> EinsumEquation:
    """The equation of a text; without `->` its result is the labels that occur once, in their order.

    Raises:
        TinycError: `InvalidAttribute`.
    """
    left, arrow, right = text.replace(" ", "").partition("->")
    terms = tuple(_labels(each, text) for each in left.split(","))
    if len(terms) != operands:
        raise TinycError("InvalidAttribute", f"the equation '{text}' has {len(terms)} terms for {operands} operands")
    every = [label for each in terms for label in each]
    if arrow:
        result = _labels(right, text)
    else:
        once = sorted(label for label in set(every) if label != _ELLIPSIS and every.count(label) == 1)
        result = (*([_ELLIPSIS] if _ELLIPSIS in every else []), *once)
    wrong = [label for label in result if result.count(label) > 1 or (label not in every and label != _ELLIPSIS)]
    if wrong:
        raise TinycError("InvalidAttribute", f"the result of '{text}' names {wrong[0]} twice, or no operand has it")
    return EinsumEquation(terms, result)


def _labels(term_text: str, text: str) -> tuple[str, ...]:
    head, dots, tail = term_text.partition(_ELLIPSIS)
    labels = (*head, *([_ELLIPSIS] if dots else []), *tail)
    if not all(label == _ELLIPSIS or (label.isascii() and label.isalpha()) for label in labels):
        raise TinycError("InvalidAttribute", f"the equation '{text}' has more than letters, commas, '->' and '...'")
    return labels


def einsum(x: Value, y: Value | None = None, *, equation: str) -> Value:
    """The sum of products of elements over the labels that the result of the equation lacks: `"bij,bjk->bik"`.

    Axes under `...` broadcast, and so do axes of extent 1; a label that an operand has twice is its diagonal.
    """
    operands = [x] if y is None else [x, y]
    parsed = parse_einsum(equation, len(operands))
    pairs = [_spelt(operand, labels, equation) for operand, labels in zip(operands, parsed.terms, strict=True)]
    unnamed = max((sum(label.isdigit() for label in labels) for _, labels in pairs), default=0)
    result: list[str] = []
    for label in parsed.result:
        result += map(str, reversed(range(unnamed))) if label == _ELLIPSIS else [label]
    single = [_alone(value, labels, [*result, *_others(pairs, at)]) for at, (value, labels) in enumerate(pairs)]
    every = dict.fromkeys(itertools.chain(result, *(labels for _, labels in single)))
    placed = [_placed(value, labels, list(every)) for value, labels in single]
    summed = range(len(result), len(every))
    if len(placed) == 1:
        return _total(placed[0], summed).to(x.element)
    product = placed[0] * placed[1]
    return product.reduce("sum", *summed, element=product_accumulator(x.element)).to(x.element) if summed else product


def _spelt(value: Value, labels: Sequence[str], equation: str) -> tuple[Value, tuple[str, ...]]:
    """An operand with a label for each axis, each label once: those under `...` are numbered from the last one."""
    unnamed = value.rank - len(labels) + 1 if _ELLIPSIS in labels else 0
    spelt: list[str] = []
    for label in labels:
        spelt += map(str, reversed(range(unnamed))) if label == _ELLIPSIS else [label]
    if len(spelt) != value.rank or unnamed < 0:
        raise TinycError("InvalidAttribute", f"a term of '{equation}' has not the {value.rank} axes of {value.type}")
    kept = tuple(dict.fromkeys(spelt))
    if len(kept) == len(spelt):
        return value, kept
    for axis, label in enumerate(spelt):
        value.match(spelt.index(label), value, axis)
    shape = tuple(value.shape[spelt.index(label)] for label in kept)
    places = tuple(term(Axis(kept.index(label))) for label in spelt)
    return value.builder.add("view", value, shape=shape, map=places), kept


def _others(pairs: Sequence[tuple[Value, tuple[str, ...]]], at: int) -> list[str]:
    """The labels of the other operands."""
    return [label for position, (_, labels) in enumerate(pairs) if position != at for label in labels]


def _alone(value: Value, labels: tuple[str, ...], wanted: Sequence[str]) -> tuple[Value, tuple[str, ...]]:
    """An operand without the axes that nothing else has, which are summed first."""
    dropped = [axis for axis, label in enumerate(labels) if label not in wanted]
    if len(wanted) == len(set(wanted)) and len(dropped) and not set(labels) & set(wanted):
        return value, labels
    kept = tuple(label for label in labels if label in wanted)
    return _total(value, dropped).to(value.element) if dropped else value, kept


def _total(value: Value, axes: Sequence[int]) -> Value:
    return value.reduce("sum", *axes, element=product_accumulator(value.element)) if axes else value


def _placed(value: Value, labels: tuple[str, ...], every: Sequence[str]) -> Value:
    """An operand with its axes in the order of all labels, of extent 1 where it lacks one."""
    order = sorted(range(len(labels)), key=lambda axis: every.index(labels[axis]))
    value = value.permute(*order)
    missing = [axis for axis, label in enumerate(every) if label not in labels]
    return value.unsqueeze(*missing) if missing else value


FORMULAS: dict[str, Function] = {"matmul": matmul, "gemm": gemm, "einsum": einsum}
