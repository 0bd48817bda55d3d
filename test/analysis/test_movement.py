"""Access maps of movement chains: equal to isl's naive relations; right over 50 ops; and what a wrong rule breaks."""

import random

import islpy as isl
import numpy as np
import pytest
from hypothesis import strategies as st

from analysis_oracles.access_oracle import build_chain, check, read_elements
from analysis_oracles.naive_relations import chain_relation
from analysis_programs.movement_chains import Chain, Step, apply_numpy, random_chain
from tinyc.analysis import movement
from tinyc.analysis.access import Access, NonScop, trace, trace_affine
from tinyc.analysis.isl.polyhedra import Polyhedra
from tinyc.analysis.isl.statement import Statement
from tinyc.analysis.limits import MAX_DIVISION_NESTING, MAX_FLOOR_DIVISIONS, MAX_GUARDS
from tinyc.analysis.movement import Guard, Read
from tinyc.dialects.registry import context
from tinyc.expr import axes, extents
from tinyc.expr.axes.evaluation import evaluate_on_grid

SHAPES = [(4,), (6, 4), (2, 3, 4), (12, 5), ("M", 4), (3, "M", 2), ("2*M", 6), (2, "M", "N")]


@st.composite
def cases(draw):
    """Return a shape and a seed."""
    return draw(st.sampled_from(SHAPES)), draw(st.integers(0, 2**32))


def relation_of(access: Access, chain: Chain):
    """Return the access of a chain as an `isl.Map` on its result's box."""
    shape = chain.steps[-1].shape
    dims = [*(guard.size for guard in access.guards), *chain.shape]
    rows = [*access.map, *(guard.expression for guard in access.guards)]
    dims += [row.constant for row in rows]
    dims += [each.numerator.constant for row in rows for each in axes.divisions(row)]
    polyhedra = Polyhedra(Statement.over("T", shape, [""] * len(shape), dims))
    return polyhedra.access("T", access.map, access.guards).intersect_domain(polyhedra.domain)


def positive(relation):
    """Return a relation for sizes of at least 1 only: what an empty value reads is no one's concern."""
    return relation.intersect_params(isl.Set("[M, N] -> { : M >= 4 and N >= 4 }"))


def test_the_map_the_naive_relation_and_isl_are_one_set(random_examples):
    compared = []

    @random_examples(cases())
    def agree(case):
        shape, seed = case
        chain = random_chain(random.Random(seed), [extents.parse_extent(str(extent)) for extent in shape], 4)
        if not chain.steps or chain.assumptions:
            return
        _module, _, value = build_chain(chain)
        with context():
            access = trace(value)
        try:
            naive = chain_relation(chain)
        except isl.Error:  # a product of symbols
            return
        if isinstance(access, Access):
            compared.append(chain)
            assert positive(relation_of(access, chain)).is_equal(positive(naive))

    agree()
    assert len(compared) >= 100


# --- long chains ------------------------------------------------------------------------------------------------------


def affine_chain(rng: random.Random, length: int, pads: int) -> Chain:
    """Return a chain of movements without reshapes, that keeps its rank, with up to so many pads."""
    shape, steps = (4, 5, 3), []
    while len(steps) < length:
        left = sum(step.op == "pad" for step in steps) < pads
        op = rng.choice(("permute", "flip", "shrink", *(["pad"] if left else [])))
        (step,) = random_chain_of(rng, op, shape).steps or (None,)
        if step is not None and 0 not in step.shape and max(step.shape) < 12:
            steps.append(step)
            shape = step.shape
    return Chain((4, 5, 3), tuple(steps), ())


def random_chain_of(rng: random.Random, op: str, shape) -> Chain:
    """Return a chain of one movement of this kind, or none."""
    while True:
        chain = random_chain(rng, shape, 1)
        if not chain.steps or chain.steps[0].op == op:
            return chain


@pytest.mark.parametrize("seed", range(8))
def test_fifty_affine_movements_are_one_map(seed):
    access = check(affine_chain(random.Random(seed), 50, pads=6), {})
    assert isinstance(access, Access)
    assert 0 < len(access.guards) <= MAX_GUARDS
    assert all(not axes.divisions(row) for row in access.map)


def scramble(rng: random.Random, length: int, size: int = 720) -> Chain:
    """Return an adversarial chain: reshapes between random factorisations, with permutes between them."""
    shape = start = _factors(rng, size)
    steps = []
    for _ in range(length):
        if rng.random() < 0.5:
            perm = tuple(rng.sample(range(len(shape)), len(shape)))
            shape = tuple(shape[position] for position in perm)
            steps.append(Step("permute", {"perm": perm}, shape))
        else:
            shape = _factors(rng, size)
            steps.append(Step("reshape", {"shape": shape}, shape))
    return Chain(start, tuple(steps), ())


def _factors(rng: random.Random, size: int) -> tuple[int, ...]:
    factors = []
    while size > 1:
        factors.append(rng.choice([d for d in range(2, size + 1) if size % d == 0][:4]))
        size //= factors[-1]
    return tuple(rng.sample(factors, len(factors)))


def pieces(chain: Chain):
    """Yield (access, array of its source, array that it makes) for each part of a chain that is one access."""
    _module, source, value = build_chain(chain)
    arrays = [np.arange(720).reshape(chain.shape)]
    for step in chain.steps:
        arrays.append(apply_numpy(Chain(arrays[-1].shape, (step,), ()), arrays[-1], {}))
    at = len(chain.steps)
    with context():
        while value != source:
            access, end = trace_affine(value), at
            while value != access.source:
                value, at = value.owner.operands[0], at - 1
            yield access, arrays[at], arrays[end]


@pytest.mark.parametrize("seed", range(10))
def test_fifty_scrambles_are_cut_into_small_maps(seed):
    found = list(pieces(scramble(random.Random(seed), 50)))
    assert 1 < len(found) < 50
    for access, source, expected in found:
        np.testing.assert_array_equal(read_elements(access, source, expected.shape, {}), expected)
        assert len(frozenset().union(*(axes.divisions(row) for row in access.map))) <= MAX_FLOOR_DIVISIONS
        assert max(map(axes.nesting, access.map)) <= MAX_DIVISION_NESTING


def test_a_scramble_that_is_too_much_for_one_map_says_so():
    found = check(scramble(random.Random(0), 50), {})
    assert isinstance(found, NonScop)
    assert "ExcessivePiecewise" in found.reason


@pytest.mark.parametrize("seed", range(4))
def test_scrambles_without_limits_are_composed_by_substitution(seed):
    chain = scramble(random.Random(seed), 8)
    shapes = [chain.shape, *(step.shape for step in chain.steps)]
    index, domain = axes.identity(shapes[-1]), shapes[-1]
    for step, operand in zip(reversed(chain.steps), shapes[-2::-1], strict=True):
        alone = movement.movement_read(step.op, step.arguments, operand, axes.identity(step.shape), step.shape)
        index = axes.compose(alone.index, index, domain)
    array = np.arange(720).reshape(chain.shape)
    expected = array
    for step in chain.steps:
        expected = expected.reshape(step.shape) if step.op == "reshape" else expected.transpose(step.arguments["perm"])
    np.testing.assert_array_equal(array[tuple(evaluate_on_grid(index, domain, {}))], expected)


# --- mutants ----------------------------------------------------------------------------------------------------------


def wide_guard(found: Read) -> Read:
    """Let one element too many pass, at the end."""
    return Read(found.index, tuple(Guard(g.expression, g.size + 1, g.value) for g in found.guards))


def early_guard(found: Read) -> Read:
    """Let one element too many pass, at the beginning, and one too few at the end."""
    return Read(found.index, tuple(Guard(g.expression + 1, g.size, g.value) for g in found.guards))


def no_guard(found: Read) -> Read:
    return Read(found.index)


def shifted(found: Read) -> Read:
    return Read(tuple(row + 1 if row.terms else row for row in found.index), found.guards)


def reversed_rows(found: Read) -> Read:
    return Read(found.index[::-1], found.guards)


MUTANTS = [
    ("pad", wide_guard),
    ("pad", early_guard),
    ("pad", no_guard),
    *((op, shifted) for op in ("pad", "shrink", "flip", "pool", "reshape", "expand", "view")),
    *((op, reversed_rows) for op in ("pool", "permute", "reshape")),
]


@pytest.mark.parametrize(("op", "mutate"), MUTANTS, ids=lambda each: getattr(each, "__name__", each))
def test_a_wrong_rule_is_found_by_the_chains(op, mutate, monkeypatch):
    rule = movement._RULES[op]
    monkeypatch.setitem(movement._RULES, op, lambda *arguments: mutate(rule(*arguments)))
    with pytest.raises(AssertionError):
        check_chains()


def check_chains() -> None:
    """Check 300 short chains against numpy, composed here: what `trace` composes, it remembers."""
    for seed in range(300):
        chain = random_chain(random.Random(seed), (3, 4), 3)
        shapes = [chain.shape, *(step.shape for step in chain.steps)]
        index, guards, domain = axes.identity(shapes[-1]), (), shapes[-1]
        for step, operand in zip(reversed(chain.steps), shapes[-2::-1], strict=True):
            found = movement.movement_read(step.op, step.arguments, operand, index, domain)
            index, guards = found.index, (*guards, *found.guards)
        array = np.arange(12).reshape(3, 4)
        expected = apply_numpy(chain, array, {})
        np.testing.assert_array_equal(read_elements(Access(None, index, guards), array, domain, {}), expected)


def test_the_right_rules_pass():
    check_chains()
