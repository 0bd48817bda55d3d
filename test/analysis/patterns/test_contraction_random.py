"""Products of operands behind random chains of movements: what is detected gives the numbers of the graph."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_oracles.contraction_oracle import expected_and_found
from analysis_programs.movement_chains import random_chain
from analysis_programs.tiny_programs import Program
from tinyc.analysis.patterns.contraction import Contraction, Reason, detect_contraction
from tinyc.dialects.registry import context
from tinyc.vocabulary.types import TensorType

#: What random operands are refused for; a code that is not here would be a defect of the detection.
REFUSED = {
    Reason.UNSPLIT_FLOOR,
    Reason.FLIPPED,
    Reason.DIAGONAL,
    Reason.PAD_VALUE,
    Reason.FOREIGN_MASK,
    Reason.ONE_OPERAND_REDUCE,
    Reason.NO_OPERAND_REDUCE,
    Reason.OUTER_PRODUCT,
    Reason.DOT_PRODUCT,
    Reason.OVERLAPPING_ROW,
}


def product_of_chain(rng: random.Random, shape: list[int]) -> Program:
    """Multiply a chain's result with an input that shares some of its axes and has one of its own; sum some."""
    chain = random_chain(rng, shape, 4)
    result = (chain.steps[-1].shape if chain.steps else chain.shape) or (1,)
    summed = [axis for axis in range(len(result)) if rng.random() < 0.5] or [len(result) - 1]
    shared = sorted({*summed, *(axis for axis in range(len(result)) if rng.random() < 0.3)})
    own = rng.choice([1, 2, 3])
    joint = (*result, own)
    p = Program(x=TensorType("f64", chain.shape), w=TensorType("f64", (*(result[axis] for axis in shared), own)))
    value = p["x"]
    for step in chain.steps:
        given = dict(step.arguments) | ({"value": rng.choice([0.0, 0.0, 0.0, 1.0])} if step.op == "pad" else {})
        value = p.op(step.op, value, **given)
    value = p.reshape(value, shape=result)
    left = p.expand(value, shape=joint, broadcast_dimensions=tuple(range(len(result))))
    right = p.expand(p["w"], shape=joint, broadcast_dimensions=(*shared, len(result)))
    return p.result(p.sum(p.mul(left, right), *summed, element="f64"))


@settings(max_examples=100, derandomize=True, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(0, 2**32))
def test_random_operands(shape, seed):
    program = product_of_chain(random.Random(seed), shape)
    with context():
        found = detect_contraction(program.last_reduce)
    if isinstance(found, Contraction):
        np.testing.assert_array_equal(*expected_and_found(program, found, {}))
    else:
        assert found.code in REFUSED, found
