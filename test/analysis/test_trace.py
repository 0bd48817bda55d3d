"""Access maps of random movement chains, against numpy on distinct values."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from movement_chains import Chain, apply_numpy, evaluate_axes, random_chain

from tinyc.analysis import extents
from tinyc.analysis.access import Access, NonScop, trace
from tinyc.dialects.tiny.ops import build, to_type
from tinyc.dialects.tiny.types import TensorType
from tinyc.mlir import context, ir

EXAMPLES = settings(max_examples=300, derandomize=True, deadline=None)


def build_chain(chain: Chain):
    """Return the module (to be kept alive) and the last value of a function that applies the chain to its argument."""
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        argument = to_type(TensorType("i64", chain.shape))
        with ir.InsertionPoint(module.body):
            source = ir.Operation.create("test.source", results=[argument]).results[0]
            value = source
            for step in chain.steps:
                value = build(step.op, [value], dict(step.arguments)).operation.results[0]
    return module, source, value


def read_elements(access: Access, source, shape, values):
    """Return the elements that the access map reads; fail where one that the guards let pass is out of bounds."""
    indices = np.indices(shape, sparse=False) if shape else []
    result, decided = np.zeros(shape, source.dtype), np.zeros(shape, bool)
    for guard in access.guards:
        inside = evaluate_axes(guard.expression, indices, values) + np.zeros(shape, np.int64)
        outside = (inside < 0) | (inside >= extents.evaluate(guard.size, values))
        result[outside & ~decided] = guard.value
        decided |= outside
    rows = [evaluate_axes(row, indices, values) + np.zeros(shape, np.int64) for row in access.map]
    for row, extent in zip(rows, source.shape, strict=True):
        assert ((row >= 0) & (row < extent) | decided).all()
    if not decided.all():
        clipped = tuple(np.where(decided, 0, row) for row in rows)
        result = np.where(decided, result, source[clipped])
    return result


def check(chain: Chain, values) -> Access | NonScop:
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


@EXAMPLES
@given(st.lists(st.integers(0, 5), min_size=0, max_size=4), st.integers(0, 2**32))
def test_static_chains_read_what_numpy_reads(shape, seed):
    chain = random_chain(random.Random(seed), shape, 6)
    access = check(chain, {})
    assert isinstance(access, Access) or "ExcessivePiecewise" in access.reason


SYMBOLIC_SHAPES = [("M", 4), ("M", "N"), ("M",), (3, "M", 2), ("2*M", 6), ("M", "M", 3)]


@EXAMPLES
@given(st.sampled_from(SYMBOLIC_SHAPES), st.integers(0, 2**32))
def test_symbolic_chains_read_what_numpy_reads_at_any_size(shape, seed):
    rng = random.Random(seed)
    chain = random_chain(rng, [extents.parse(str(extent)) for extent in shape], 4)
    sizes = [{"M": rng.randint(0, 6), "N": rng.randint(0, 4)} for _ in range(12)]
    for values in [values for values in sizes if chain.holds(values)][:3]:
        access = check(chain, values)
        assert isinstance(access, Access) or "symbolic stride" in access.reason or "Excessive" in access.reason
