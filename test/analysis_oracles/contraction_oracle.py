"""What a detected contraction computes, by its roles and windows only: the numbers that its reduce must give."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis_programs.tiny_programs import Program
from tinyc.analysis.access import Access, DimAxes, shape_of
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.dialects.registry import context
from tinyc.executors import reference
from tinyc.expr import axes, extents
from tinyc.expr.axes import Shape
from tinyc.expr.axes.evaluation import evaluate_at
from tinyc.vocabulary.attributes import tensor_type


def expected_and_found(
    program: Program, found: Contraction, symbols: Mapping[str, int], dims: DimAxes | None = None
) -> tuple[Any, Any]:
    """Return what the reference makes of the program on random integers, and what the roles make of the same sources.

    The result of the program's last reduce is its only output so far; the sources are returned beside it. `dims` are
    the axes that the contraction is over.
    """
    shapes = [_evaluated(shape_of(access.source, dims), symbols) for access in (found.lhs, found.rhs)]
    total = found.reduce.operation.results[0]
    program.block.operations[len(program.block.operations) - 1].operation.erase()
    program.result(total, found.lhs.source, found.rhs.source)
    rng = np.random.default_rng(0)
    inputs = {name: _random(rng, value, symbols) for name, value in program.arguments.items()}
    expected, lhs, rhs = reference.evaluate_module(program.module, inputs).values()
    result = by_roles(found, lhs.reshape(shapes[0]), rhs.reshape(shapes[1]), symbols)
    return expected, result.reshape(expected.shape)


def _evaluated(shape: Shape, symbols: Mapping[str, int]) -> list[int]:
    return [extents.evaluate(extent, symbols) for extent in shape]


def _random(rng: np.random.Generator, value: Any, symbols: Mapping[str, int]) -> Any:
    with context():
        shape = _evaluated(tensor_type(value.type).shape, symbols)
    return rng.integers(-9, 9, shape).astype(np.float64)  # sums of small integers are exact


def by_roles(found: Contraction, lhs: Any, rhs: Any, symbols: Mapping[str, int]) -> Any:
    """Return the product: an einsum over [batch, m, k] and [batch, k, n], put in the order of the output."""
    roles, left, right = found.roles, *found.over_digits
    rows, columns = (*roles.batch, *roles.m, *roles.k), (*roles.batch, *roles.k, *roles.n)
    a, b = _operand(found, "lhs", left, lhs, rows, symbols), _operand(found, "rhs", right, rhs, columns, symbols)
    kept = sorted((*roles.batch, *roles.m, *roles.n))
    total = np.einsum(a, rows, b, columns, kept)
    for digit in roles.broadcast:
        kept = sorted((*kept, digit))
        at, size = kept.index(digit), extents.evaluate(found.digits.shape[digit], symbols)
        total = np.repeat(np.expand_dims(total, at), size, at)
    summed = {found.digits.axis_of(digit) for digit in roles.k}
    domain = _evaluated(found.domain, symbols)
    return total.reshape([extent for position, extent in enumerate(domain) if position not in summed])


def _operand(
    found: Contraction, name: str, access: Access, source: Any, dims: tuple[int, ...], symbols: Mapping[str, int]
) -> Any:
    """Return an operand over the digits `dims`; its windows by their numbers, not by the rows of the map."""
    assert frozenset().union(*map(axes.positions, access.map)) <= set(dims), "read along an axis of another role"
    sizes = _evaluated(tuple(found.digits.shape[digit] for digit in dims), symbols)
    grid = dict(zip(dims, np.indices(sizes, sparse=True), strict=True))
    indices = [grid.get(position, 0) for position in range(len(found.digits.shape))]
    rows = [np.broadcast_to(evaluate_at(row, indices, symbols), sizes) for row in access.map]
    for window in found.windows:
        if window.operand == name:
            row = window.stride * grid[window.outer] + window.dilation * grid[window.kernel] - window.pad
            rows[window.row] = np.broadcast_to(row, sizes)
    inside = np.ones(sizes, bool)
    bounds = list(zip(rows, source.shape, strict=True))
    bounds += [(evaluate_at(g.expression, indices, symbols), extents.evaluate(g.size, symbols)) for g in access.guards]
    for row, extent in bounds:
        inside &= (row >= 0) & (row < extent)
    if not inside.any():
        return np.zeros(sizes)
    return np.where(inside, source[tuple(np.where(inside, row, 0) for row in rows)], 0)
