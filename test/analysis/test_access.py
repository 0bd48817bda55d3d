"""Access maps of random movement chains, against numpy on distinct values.

`--random-examples N` runs more than the 300 of CI, new ones each time.
"""

import random

from hypothesis import strategies as st

from analysis_oracles.access_oracle import check
from analysis_programs.contraction_programs import shape_of
from analysis_programs.movement_chains import random_chain
from analysis_programs.tiny_programs import Program
from tinyc.analysis.access import Access, trace
from tinyc.dialects.registry import context
from tinyc.expr import extents

SHAPES = st.lists(st.integers(0, 5), min_size=0, max_size=4)
SYMBOLIC_SHAPES = [("M", 4), ("M", "N"), ("M",), (3, "M", 2), ("2*M", 6), ("M", "M", 3)]


def test_static_chains_read_what_numpy_reads(random_examples):
    @random_examples(st.tuples(SHAPES, st.integers(0, 2**32)))
    def agree(case):
        shape, seed = case
        access = check(random_chain(random.Random(seed), shape, 6), {})
        assert isinstance(access, Access) or "ExcessivePiecewise" in access.reason

    agree()


def test_symbolic_chains_read_what_numpy_reads_at_any_size(random_examples):
    @random_examples(st.tuples(st.sampled_from(SYMBOLIC_SHAPES), st.integers(0, 2**32)))
    def agree(case):
        shape, seed = case
        rng = random.Random(seed)
        chain = random_chain(rng, [extents.parse_extent(str(extent)) for extent in shape], 4)
        sizes = [{"M": rng.randint(0, 6), "N": rng.randint(0, 4)} for _ in range(12)]
        for values in [values for values in sizes if chain.holds(values)][:3]:
            access = check(chain, values)
            assert isinstance(access, Access) or "symbolic stride" in access.reason or "Excessive" in access.reason

    agree()


def test_the_sign_of_a_zero_that_pads_is_kept():
    """Two chains alike but for the sign: equal as numbers, and not as elements."""
    for value in (0.0, -0.0):
        p = Program(x="f64 M")
        padded = p.permute(p.pad(p["x"], lo=(1,), hi=(0,), value=value), perm=(0,))
        with context():
            access = trace(padded)
        assert isinstance(access, Access)
        assert [str(guard.value) for guard in access.guards] == [str(value)]


def test_a_guard_that_another_implies_stays_where_its_zero_has_another_sign():
    """Both pads are undone and made again: outside of the inner one is -0.0, outside of the outer one 0.0."""
    p = Program(x="f64 M")
    inner = p.pad(p["x"], lo=(1,), hi=(0,), value=-0.0)
    outer = p.pad(p.shrink(inner, lo=(0,), hi=(shape_of(inner)[0],), step=(1,)), lo=(1,), hi=(0,), value=0.0)
    with context():
        access = trace(outer)
    assert isinstance(access, Access)
    assert [str(guard) for guard in access.guards] == ["0 <= i0 - 1 < M + 1 else 0.0", "0 <= i0 - 2 < M else -0.0"]
