"""Reshapes of symbolic sizes: which are affine between split axes, each checked by numbers at random sizes."""

import random

import pytest
from hypothesis import strategies as st

from analysis_oracles.book_oracle import check_book
from analysis_programs.movement_chains import Chain, random_chain
from analysis_programs.tiny_programs import Program, tensor
from tinyc.analysis.index_book.book import NonScopEntry, index_book
from tinyc.analysis.index_book.invariants import broken_invariants
from tinyc.analysis.index_book.splits import NO_SPLITS, splits_of
from tinyc.dialects.registry import context
from tinyc.vocabulary.types import TensorType


def gemm():
    p = Program(x="f32 M K", w="f32 K N")
    x, w = p.reshape(p["x"], shape="M 1 K"), p.reshape(p.permute(p["w"], perm=(1, 0)), shape="1 N K")
    x, w = (p.expand(each, shape="M N K", broadcast_dimensions=(0, 1, 2)) for each in (x, w))
    return p.result(p.sum(p.mul(x, w), 2))


def linear():
    """A linear layer over the merged axis B*S, its result split again."""
    p = Program(x="f32 B S K", w="f32 N K")
    x = p.reshape(p.reshape(p["x"], shape="B*S K"), shape="B*S 1 K")
    x = p.expand(x, shape="B*S N K", broadcast_dimensions=(0, 1, 2))
    w = p.expand(p["w"], shape="B*S N K", broadcast_dimensions=(1, 2))
    return p.result(p.reshape(p.sum(p.mul(x, w), 2), shape="B S N"))


def mha():
    """Heads split off and, after a product, merged again and added to the input."""
    p = Program(x="f32 B S H*D")
    heads = p.permute(p.reshape(p["x"], shape="B S H D"), perm=(0, 2, 1, 3))
    scores = p.mul(heads, heads)
    merged = p.reshape(p.permute(scores, perm=(0, 2, 1, 3)), shape="B S H*D")
    return p.result(p.add(merged, p["x"]))


def gqa():
    p = Program(q="f32 B S G*J*D", k="f32 B S G*D")
    q = p.reshape(p["q"], shape="B S G*J D")
    k = p.reshape(p.reshape(p["k"], shape="B S G D"), shape="B S G 1 D")
    k = p.reshape(p.expand(k, shape="B S G J D", broadcast_dimensions=(0, 1, 2, 3, 4)), shape="B S G*J D")
    return p.result(p.reshape(p.mul(q, k), shape="B S G*J*D"))


def chunk():
    """One of the three parts of a fused projection."""
    p = Program(x="f32 B S 3*H*D")
    x = p.reshape(p["x"], shape="B S 3 H D")
    x = p.shrink(x, lo=(0, 0, 1, 0, 0), hi=tensor("f32 B S 2 H D").shape, step=(1, 1, 1, 1, 1))
    return p.result(p.reshape(x, shape="B S H*D"))


def grouped_conv():
    """The operands of a grouped convolution, 3x3, and its result with the groups merged."""
    p = Program(x="f32 N G*C H W", w="f32 G*R C 3 3")
    x = p.reshape(p["x"], shape="N G C H W")
    x = p.pad(x, lo=(0, 0, 0, 1, 1), hi=(0, 0, 0, 1, 1), value=0.0)
    x = p.pool(x, kernel=(3, 3), stride=(1, 1), dilation=(1, 1))
    x = p.reshape(p.permute(x, perm=(0, 1, 3, 4, 2, 5, 6)), shape="N G 1 H W C 3 3")
    x = p.expand(x, shape="N G R H W C 3 3", broadcast_dimensions=tuple(range(8)))
    w = p.reshape(p.reshape(p["w"], shape="G R C 3 3"), shape="1 G R 1 1 C 3 3")
    w = p.expand(w, shape="N G R H W C 3 3", broadcast_dimensions=tuple(range(8)))
    return p.result(p.reshape(p.sum(p.mul(x, w), 5, 6, 7), shape="N G*R H W"))


def im2col():
    p = Program(x="f32 N C H W")
    x = p.pool(p["x"], kernel=(3, 2), stride=(2, 1), dilation=(1, 1))
    x = p.permute(x, perm=(0, 2, 3, 1, 4, 5))
    return p.result(p.reshape(x, shape="N*((H-3)//2+1)*(W-1) C*6"))


def flatten():
    p = Program(x="f32 N C H W")
    return p.result(p.neg(p.reshape(p["x"], shape="N C*H*W")))


def pixelshuffle():
    p = Program(x="f32 N C*R*R H W")
    x = p.permute(p.reshape(p["x"], shape="N C R R H W"), perm=(0, 1, 4, 2, 5, 3))
    return p.result(p.reshape(x, shape="N C H*R W*R"))


def patchify():
    p = Program(x="f32 N C H*P W*P")
    x = p.permute(p.reshape(p["x"], shape="N C H P W P"), perm=(0, 2, 4, 1, 3, 5))
    return p.result(p.reshape(x, shape="N H*W C*P*P"))


def window_attention():
    p = Program(x="f32 B H*P W*P C")
    x = p.permute(p.reshape(p["x"], shape="B H P W P C"), perm=(0, 1, 3, 2, 4, 5))
    windows = p.reshape(x, shape="B*H*W P*P C")
    back = p.permute(p.reshape(p.relu(windows), shape="B H W P P C"), perm=(0, 1, 3, 2, 4, 5))
    return p.result(p.reshape(back, shape="B H*P W*P C"))


def channel_shuffle():
    p = Program(x="f32 N G*C H W")
    x = p.permute(p.reshape(p["x"], shape="N G C H W"), perm=(0, 2, 1, 3, 4))
    return p.result(p.reshape(x, shape="N C*G H W"))


LISTINGS = [
    gemm, linear, mha, gqa, chunk, grouped_conv,
    im2col, flatten, pixelshuffle, patchify, window_attention, channel_shuffle,
]  # fmt: skip


@pytest.mark.parametrize("listing", LISTINGS, ids=lambda each: each.__name__)
def test_a_listing_is_affine_at_every_size(listing):
    rng = random.Random(0)
    program = listing()
    with context():
        for _ in range(5):
            sizes = {name: rng.randint(1, 4) for name in "BCDGHJKMNPRSW"}
            sizes |= {"H": rng.randint(3, 6), "W": rng.randint(2, 5)} if listing is im2col else {}
            entries = check_book(program.function, sizes)
            assert [each for each in entries if isinstance(each, NonScopEntry)] == []


def reasons(program: Program, value: str) -> str:
    with context():
        (entry,) = (each for each in index_book(program.function).entries if each.value == value)
    return entry.reason if isinstance(entry, NonScopEntry) else ""


def test_a_scramble_is_not_affine():
    p = Program(x="f32 H B")
    p.reshape(p["x"], shape="B H", name="y")
    assert reasons(p, "y").startswith("symbolic stride: the axes [H, B] become [B, H]")


def test_what_comes_after_a_scramble_reads_the_buffer_under_its_new_shape():
    p = Program(x="f32 H B D")
    y = p.reshape(p["x"], shape="B H D", name="y")
    p.reshape(y, shape="B H*D", name="z")
    with context():
        entries = {each.value: each for each in check_book(p.function, {"B": 2, "H": 3, "D": 4})}
    assert isinstance(entries["y"], NonScopEntry)
    assert (entries["z"].shape, entries["z"].dims) == (entries["y"].shape, (1, 2))


def test_a_dimension_that_is_padded_is_not_split():
    p = Program(x="f32 H*D")
    p.pad(p["x"], lo=(1,), hi=(0,), value=0.0)
    p.reshape(p["x"], shape="H D", name="z")
    assert "'tiny.pad' reads them as a whole" in reasons(p, "z")


def test_the_window_of_a_pool_is_not_split_and_what_leads_is():
    p = Program(x="f32 N*C H")
    p.reshape(p.pool(p["x"], kernel=(3,), stride=(1,), dilation=(1,)), shape="N C H-2 3", name="y")
    assert reasons(p, "y") == ""


def test_a_split_that_another_reshape_cannot_bear_is_undone():
    # Both reshapes are of one class, by the sum: the first one decides.
    p = Program(x="f32 H*D", y="f32 H*D")
    total = p.add(p["x"], p["y"])
    p.reshape(p["x"], shape="H D", name="first")
    p.reshape(total, shape="D H", name="second")
    assert reasons(p, "first") == ""
    assert reasons(p, "second").startswith("symbolic stride: the axes [H, D] become [D, H]")


def test_a_reshape_by_numbers_stays_affine_when_a_later_one_would_split_its_axis():
    p = Program(x="f32 4*M*N")
    p.reshape(p["x"], shape="M*N 4", name="first")
    p.reshape(p["x"], shape="2*M 2*N", name="second")
    assert reasons(p, "first") == ""
    assert "as an earlier reshape has them" in reasons(p, "second")


def test_a_split_reaches_the_reshapes_that_were_affine_before():
    p = Program(x="f32 A B*C", y="f32 A B*C")
    p.reshape(p["x"], shape="A*B*C", name="merged")
    p.reshape(p.add(p["x"], p["y"]), shape="A B C", name="split")
    with context():
        entries = {each.value: each for each in check_book(p.function, {"A": 2, "B": 3, "C": 4})}
    assert entries["merged"].dims == (3,)


def test_a_sum_is_divided_by_a_sum():
    p = Program(x="f32 (H+2)*(W+1)")
    p.reshape(p["x"], shape="H+2 W+1", name="y")
    assert reasons(p, "y") == ""


def test_a_dimension_is_split_into_eight_axes_at_most():
    p = Program(x="f32 A*B*C*D*E*F*G*H*I")
    p.reshape(p["x"], shape="A B C D E F G H I", name="y")
    assert reasons(p, "y").startswith("symbolic stride")


def test_nothing_is_split_where_strides_are_numbers():
    p = Program(x="f32 M 12")
    p.reshape(p["x"], shape="3*M 4")
    with context():
        assert splits_of(p.function) is NO_SPLITS


@st.composite
def cases(draw):
    return draw(st.sampled_from(SHAPES)), draw(st.integers(0, 2**32))


SHAPES = ["M*N 4", "M N", "2*M*N", "A M*N", "M M 3", "(M+2)*N 6", "B S H*D"]


def random_program(rng: random.Random, shape: str) -> tuple[Program, Chain]:
    """Return a function of random movements, with sums of values of one shape among them."""
    chain = random_chain(rng, tensor(f"f32 {shape}").shape, 6)
    p = Program(x=TensorType("i64", chain.shape))
    values = {chain.shape: p["x"]}
    value = p["x"]
    for step in chain.steps:
        value = p.op(step.op, value, **step.arguments)
        if step.shape in values and rng.random() < 0.7:
            value = p.add(value, values[step.shape])
        values[step.shape] = value
    return p.result(value), chain


def test_books_of_random_programs_read_what_numpy_reads_at_any_size(random_examples):
    @random_examples(cases())
    def check(case):
        shape, seed = case
        rng = random.Random(seed)
        program, chain = random_program(rng, shape)
        with context():
            book = index_book(program.function)
            assert list(broken_invariants(book, chain.assumptions)) == []
            sizes = [{name: rng.randint(0, 5) for name in "ABDHMNS"} for _ in range(12)]
            for each in [each for each in sizes if chain.holds(each)][:3]:
                check_book(program.function, each)

    check()
