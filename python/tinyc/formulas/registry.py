"""The ops of the Frontend layer by name: which formula each of them is, and what it gives.

Each family is a file with a table of formulas, `FORMULAS`; here they are put together. An op with a selector has a
formula for each choice: `elementwise {fn = "gelu"}`.
"""

import functools
from collections.abc import Mapping
from typing import Any

from tinyc.diagnostics import TinycError, Where, either
from tinyc.formulas import (
    activations,
    angles,
    attention,
    bits,
    convolution,
    elementwise,
    exponential,
    indexing,
    movement,
    norms,
    pooling,
    products,
    quantisation,
    random,
    recurrent,
    reductions,
    resize,
    sampling,
    signal,
)
from tinyc.formulas.schema import Schema, by_choice, schema_of
from tinyc.formulas.steps import Steps
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.types import TensorType

#: Op → the attribute that says which of its formulas is meant, and what the op is.
SELECTORS: dict[str, tuple[str, str]] = {
    "elementwise": ("fn", "Element i of the result is computed from element i of each operand; operands broadcast."),
    "movement": ("kind", "Each element of the result is one of the operands, or a constant beside them; no copy."),
    "reduce": ("fn", "Reduce `axes`, all of them where none are given; with `keepdims` they stay, of extent 1."),
    "cumulative": ("fn", "The partial results of a reduction along `axis`."),
    "pool": ("fn", "Reduce sliding windows over the spatial axes of `[batch, channels, spatial…]`."),
    "gather": ("kind", "Elements of `data` by index; a negative index counts from the end."),
    "scatter": ("kind", "`data` with `updates` put, or combined by `reduction`, at `index`."),
    "random": ("distribution", "Random numbers of Philox-4x32-10, by seed, stream and position."),
}

#: The families, in reading order. What each of their ops is in numpy stands in `executors/frontend`, under their names.
FAMILIES = (
    elementwise,
    exponential,
    angles,
    activations,
    bits,
    movement,
    indexing,
    products,
    convolution,
    attention,
    reductions,
    norms,
    pooling,
    resize,
    sampling,
    recurrent,
    quantisation,
    random,
    signal,
)


def _schemas() -> dict[str, dict[str | None, Schema]]:
    found: dict[str, dict[str | None, Schema]] = {}
    for op, choice, formula in by_choice(family.FORMULAS for family in FAMILIES):
        found.setdefault(op, {})[choice] = schema_of(op, choice, formula)
    return found


#: Op → choice of its selector, None where it has none → schema.
SCHEMAS: Mapping[str, Mapping[str | None, Schema]] = _schemas()


def find_schema(op: str, choice: str | None) -> Schema:
    """The schema of an op.

    Raises:
        TinycError: `InvalidAttribute`: it has a selector, and no such choice.
    """
    known = SCHEMAS[op]
    if choice not in known:
        message = f"{op} has no {SELECTORS[op][0]} {choice!r}; it is {either(map(str, known))}"
        raise TinycError("InvalidAttribute", message)
    return known[choice]


def schema_named(name: str) -> Schema:
    """The schema of an op by its name, `softmax`, or `elementwise gelu` with the choice of its selector.

    Raises:
        TinycError: as `find_schema`.
    """
    op, _, choice = name.partition(" ")
    return find_schema(op, choice or None)


def apply_formula(
    schema: Schema, builder: Builder, operands: Mapping[str, Value], attributes: Mapping[str, Any]
) -> tuple[Value, ...]:
    """Add the steps of an op and return its results; `operands` are those that are there, by name.

    Raises:
        TinycError: a rule of the op, or of one that it is made of.
    """
    values = schema.bind(attributes)
    schema.check_operands(operands)
    if schema.needs_builder:
        values["builder"] = builder
    given = {name: operands[name] for name in schema.operands if name in operands}
    results = schema.function(**given, **values)
    return results if isinstance(results, tuple) else (results,)


def result_types(
    schema: Schema, operands: Mapping[str, TensorType], attributes: Mapping[str, Any]
) -> tuple[TensorType, ...]:
    """The types of an op's results: those that its formula gives.

    Raises:
        TinycError: as `apply_formula`.
    """
    frozen = tuple(sorted(attributes.items()))
    return _result_types(schema.op, schema.choice, tuple(operands.items()), frozen)


@functools.lru_cache(maxsize=4096)  # a model has many layers that are alike
def _result_types(
    op: str,
    choice: str | None,
    operands: tuple[tuple[str, TensorType], ...],
    attributes: tuple[tuple[str, Any], ...],
) -> tuple[TensorType, ...]:
    steps = Steps()
    builder = Builder(steps, Where())
    values = {name: builder.value(steps.placeholder(each)) for name, each in operands}
    results = apply_formula(find_schema(op, choice), builder, values, dict(attributes))
    return tuple(each.type for each in results)
