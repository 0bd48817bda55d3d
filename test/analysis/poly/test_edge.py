"""Dependences between blocks: their text is what isl says; anti and output ones arise where tensors share memory."""

import random

import islpy as isl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis_programs.contraction_programs import shape_of
from analysis_programs.movement_chains import random_chain
from analysis_programs.tiny_programs import Program
from tinyc.analysis.isl.polyhedra import Polyhedra
from tinyc.analysis.poly.edge import DEPENDENCE_KINDS, PolyEdge
from tinyc.analysis.poly.view import PolyView, poly_view
from tinyc.dialects.registry import context
from tinyc.expr import extents
from tinyc.vocabulary.types import TensorType


def view_of(program: Program, **buffers: str) -> PolyView:
    with context():
        return poly_view(program.function, buffers=buffers)


def edges(view: PolyView) -> dict[tuple[str, str], dict[str, list[str]]]:
    """Return the texts of the dependences by source and target, without kinds that are empty."""
    return {
        (edge.source.name, edge.target.name): {kind: edge.texts(kind) for kind in DEPENDENCE_KINDS if edge.texts(kind)}
        for edge in view.edges
    }


def within(edge: PolyEdge, relation: isl.Map) -> isl.Map:
    """Return a relation between the blocks of an edge with their domains."""
    source, target = Polyhedra(edge.source.statement).domain, Polyhedra(edge.target.statement).domain
    return relation.intersect_domain(source).intersect_range(target)


def assert_texts_are_the_maps(edge: PolyEdge) -> None:
    """Compare the closed form with isl's composition, within the domains of both blocks."""
    for kind in DEPENDENCE_KINDS:
        for text, relation in zip(edge.texts(kind), edge.maps(kind), strict=True):
            assert within(edge, isl.Map(text)).is_equal(within(edge, relation))


def constraints(relation: isl.Map) -> int:
    return sum(len(each.get_constraints()) for each in relation.get_basic_maps())


def chain_of_three(op: str = "neg") -> Program:
    """a = relu x, b = op a, c = relu b."""
    p = Program(x="f32 M N")
    a = p.relu(p["x"], name="a")
    b = p.op(op, a, name="b") if op == "neg" else p.neg(p.permute(a, perm=(1, 0)), name="b")
    return p.result(p.relu(b, name="c"))


def test_values_that_are_written_once_have_true_dependences_only():
    view = view_of(chain_of_three())
    assert edges(view) == {
        ("a", "b"): {"true": ["[M, N] -> { a[m, n] -> b[m, n] }"]},
        ("b", "c"): {"true": ["[M, N] -> { b[m, n] -> c[m, n] }"]},
    }


def test_a_buffer_that_is_used_again_is_read_before_and_written_before():
    view = view_of(chain_of_three(), a="arena", c="arena")
    assert edges(view) == {
        ("a", "b"): {"true": ["[M, N] -> { a[m, n] -> b[m, n] }"]},
        ("b", "c"): {
            "true": ["[M, N] -> { b[m, n] -> c[m, n] }"],
            "anti": ["[M, N] -> { b[m, n] -> c[m, n] }"],
        },
        ("a", "c"): {"output": ["[M, N] -> { a[m, n] -> c[m, n] }"]},
    }
    for edge in view.edges:
        assert_texts_are_the_maps(edge)


def test_an_update_in_place_of_its_own_element_has_no_anti_dependence():
    view = view_of(chain_of_three(), a="arena", b="arena")
    assert edges(view)["a", "b"].keys() == {"true", "output"}
    assert ("b", "b") not in edges(view)


def test_an_update_in_place_of_other_elements_depends_on_itself():
    p = Program(x="f32 M M")
    a = p.relu(p["x"], name="a")
    view = view_of(p.result(p.neg(p.permute(a, perm=(1, 0)), name="b")), a="arena", b="arena")
    assert edges(view)["b", "b"] == {"anti": ["[M] -> { b[m, i1] -> b[i1, m] : (m != i1 or i1 != m) }"]}
    for edge in view.edges:
        assert_texts_are_the_maps(edge)


def test_tensors_of_other_shapes_in_one_buffer_depend_as_wholes():
    p = Program(x="f32 M N")
    a = p.relu(p["x"], name="a")
    view = view_of(p.result(p.neg(p.sum(a, 1, name="s"), name="c")), a="arena", c="arena")
    assert edges(view)["a", "c"] == {"output": ["[M, N] -> { a[m, n] -> c[m_] }"]}
    assert edges(view)["s", "c"]["anti"] == ["[M, N] -> { s[m, n] -> c[m_] }"]
    for edge in view.edges:
        assert_texts_are_the_maps(edge)


def test_what_is_overwritten_since_is_ordered_through_what_overwrites_it():
    p = Program(x="f32 M")
    value = p["x"]
    for name in "abcdefgh":
        value = p.neg(value, name=name)
    view = view_of(p.result(value), **dict.fromkeys("aceg", "even"), **dict.fromkeys("bdfh", "odd"))
    outputs = [(edge.source.name, edge.target.name) for edge in view.edges if edge.of("output")]
    assert outputs == [("a", "c"), ("b", "d"), ("c", "e"), ("d", "f"), ("e", "g"), ("f", "h")]


@pytest.mark.parametrize(
    ("high", "step", "text"),
    [
        (0, 1, "{ a[m] -> b[i0] : m = i0 - 2 }"),
        (3, 1, "{ a[m] -> b[i0] : m = i0 - 2 }"),
        # what is read of the pad goes on behind the elements of a
        (3, 2, "{ a[m] -> b[i0] : m = 2*i0 - 2 }"),
    ],
)
def test_guards_that_the_domains_imply_are_left_out(high, step, text):
    p = Program(x="f32 M")
    padded = p.pad(p.relu(p["x"], name="a"), lo=(2,), hi=(high,), value=0.0)
    read = p.shrink(padded, lo=(0,), hi=shape_of(padded), step=(step,))
    view = view_of(p.result(p.neg(read, name="b")))
    assert edges(view) == {("a", "b"): {"true": [f"[M] -> {text}"]}}
    for edge in view.edges:
        assert_texts_are_the_maps(edge)


def test_guards_that_neither_domain_implies_stay():
    p = Program(x="f32 8")
    padded = p.pad(p.shrink(p.relu(p["x"], name="a"), lo=(2,), hi=(6,), step=(1,)), lo=(1,), hi=(1,), value=0.0)
    view = view_of(p.result(p.neg(padded, name="b")))
    assert edges(view) == {("a", "b"): {"true": ["{ a[i0] -> b[i0_] : i0 = i0_ + 1 and 0 <= i0_ - 1 < 4 }"]}}
    for edge in view.edges:
        assert_texts_are_the_maps(edge)


def test_isl_leaves_out_what_the_domains_imply():
    p = Program(x="f32 M")
    a = p.relu(p["x"], name="a")
    (edge,) = view_of(p.result(p.neg(p.pad(a, lo=(2,), hi=(3,), value=0.0), name="b"))).edges
    (found,) = edge.maps("true")
    whole = isl.Map("[M] -> { a[m] -> b[i0] : m = i0 - 2 and 0 <= m < M and 0 <= i0 < M + 5 }")
    assert within(edge, found).is_equal(whole)
    assert found.is_equal(isl.Map("[M] -> { a[m] -> b[m + 2] }"))
    assert (constraints(found), constraints(whole.remove_redundancies())) == (1, 3)


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.sampled_from(["3", "M", "2*M", "(M - 1) floordiv 2 + 3"]), st.integers(0, 2**32))
def test_a_dependence_is_never_longer_than_with_its_domains(extent, seed):
    chain = random_chain(random.Random(seed), [extents.parse_extent(extent), 4], 4)
    p = Program(x=TensorType("i64", chain.shape))
    for edge in view_of(p.result(p.neg(chain.on(p, p.neg(p["x"], name="a")), name="b"))).edges:
        for found in edge.maps("true"):
            whole = within(edge, found)
            assert constraints(found) <= constraints(whole.coalesce().remove_redundancies())


@settings(max_examples=150, derandomize=True, deadline=None)
@given(st.sampled_from(["3", "M", "2*M", "(M - 1) floordiv 2 + 3"]), st.integers(0, 2**32), st.booleans())
def test_the_text_of_a_dependence_is_the_dependence(extent, seed, shared):
    chain = random_chain(random.Random(seed), [extents.parse_extent(extent), 4], 4)
    p = Program(x=TensorType("i64", chain.shape))
    source = p.neg(p["x"], name="a")
    value = chain.on(p, source)
    p.result(p.neg(p.neg(value, name="b"), name="c"), p.neg(source, name="d"))
    buffers = {"a": "arena", "b": "arena", "d": "arena"} if shared else {}
    for edge in view_of(p, **buffers).edges:
        assert_texts_are_the_maps(edge)
