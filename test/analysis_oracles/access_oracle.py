"""What access maps read, on arrays of distinct values, and what numpy makes of the same movements."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis_programs.movement_chains import Chain, apply_numpy
from tinyc.analysis.access import Access, NonScop, trace
from tinyc.dialects.registry import context
from tinyc.dialects.tiny.ops import build, to_type
from tinyc.expr import extents
from tinyc.expr.axes.evaluation import evaluate_on_grid
from tinyc.mlir import ir
from tinyc.vocabulary.types import TensorType


def build_chain(chain: Chain) -> tuple[Any, Any, Any]:
    """Return a module (to be kept alive) with a value and the chain's movements of it, that value, and the last one."""
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        argument = to_type(TensorType("i64", chain.shape))
        with ir.InsertionPoint(module.body):
            source = ir.Operation.create("test.source", results=[argument]).results[0]
            value = source
            for step in chain.steps:
                value = build(step.op, [value], dict(step.arguments)).operation.results[0]
    return module, source, value


def read_elements(access: Access, source: Any, shape: Sequence[int], values: Mapping[str, int]) -> Any:
    """Return the elements that the access map reads; fail where one that the guards let pass is out of bounds."""
    result, decided = np.zeros(shape, source.dtype), np.zeros(shape, bool)
    for guard in access.guards:
        (inside,) = evaluate_on_grid((guard.expression,), shape, values)
        outside = (inside < 0) | (inside >= extents.evaluate(guard.size, values))
        result[outside & ~decided] = guard.value
        decided |= outside
    rows = evaluate_on_grid(access.map, shape, values)
    for row, extent in zip(rows, source.shape, strict=True):
        assert ((row >= 0) & (row < extent) | decided).all(), "out of bounds"
    if decided.all():
        return result
    return np.where(decided, result, source[tuple(np.where(decided, 0, row) for row in rows)])


def check(chain: Chain, values: Mapping[str, int]) -> Access | NonScop:
    """Check the traced access of the chain against numpy, at these values of the symbols."""
    _module, source, value = build_chain(chain)
    with context():
        access = trace(value)
    if isinstance(access, NonScop):
        return access
    assert access.source == source
    shape = tuple(extents.evaluate(extent, values) for extent in chain.shape)
    array = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    expected = apply_numpy(chain, array, values)
    np.testing.assert_array_equal(read_elements(access, array, expected.shape, values), expected)
    return access
