"""What each field admits, and what is said about a value that it does not."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import FIELDS, refused
from tinyc.diagnostics import TinycError
from tinyc.plan.fields import ARCHITECTURES, ATTRIBUTES, MOST_ERRORS, Plan, plan_of_values

ALLOWED_TILE = "give an integer in 1 … 2147483647"
CACHED = {"tensor": "A", "where": "smem", "at": "k.i"}
#: What a parser of JSON may hand over, of the words that the fields know.
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(("m", "smem", "A", "reg", "", "row")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(("tensor", "where", "at", "axis", "m", "buffer", "depth", "")), inner)
    ),
)
EDGE = {"from": "a", "to": "b", "buffer": "reg"}


def message(name, value):
    (error,) = refused(plan_of_values, {name: value})
    return error.message


def test_no_field_is_given_by_default():
    assert Plan().values() == {}
    assert set(FIELDS) == {field.name for field in dataclasses.fields(Plan)}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("scheme", "naive", "'scheme' is \"naive\"; there are mma, naive_2x2_per_thread, generic, row_reduce"),
        ("scheme", "generik", "'scheme' is \"generik\"; did you mean 'generic' or 'cpu_generic'?"),
        ("tile", [64, 64], "'tile' is [64, 64]; give a list of 3 entries"),
        ("tile", [64, 0, 32], f"'tile[1]' is 0; {ALLOWED_TILE}"),
        ("tile", [64, 2**31, 32], f"'tile[1]' is 2147483648; {ALLOWED_TILE}"),
        ("tile", {"m": 64}, "'tile' is {\"m\": 64}; give a list of 3 entries"),
        ("stages", 9, "'stages' is 9; give an integer in 1 … 8"),
        ("stages", True, "'stages' is true; give"),
        ("stages", 2.0, "'stages' is 2.0; give"),
        ("stages", "2", "'stages' is \"2\"; give"),
        ("stages", None, "'stages' is null; give"),
        ("stages", float("nan"), "'stages' is NaN; give"),
        ("pipeline", "K", "'pipeline' is \"K\"; give an axis"),
        ("warp_tile", "64x0", '\'warp_tile\' is "64x0"; give a tile such as "64x32"'),
        ("order", ["m", "m"], "'order' has \"m\" twice"),
        ("order", "m.o", "'order' is \"m.o\"; give a list"),
        ("split", {"m": 0}, f"'split.m' is 0; {ALLOWED_TILE}"),
        ("split", {"M": 1}, "a key of 'split' is \"M\"; give an axis"),
        ("split", [["m", 1]], "'split' is [[\"m\", 1]]; give an object"),
        ("fuse", [["m", "n"]], '\'fuse[0]\' is ["m", "n"]; give a list of 3 entries'),
        ("bind", {"m.o": "block.w"}, "'bind[\"m.o\"]' is \"block.w\"; did you mean 'block.z'"),
        ("cache", [{**CACHED, "where": "reg"}], '\'cache[0].where\' is "reg"; give "smem"'),
        ("cache", [{**CACHED, "pingpon": True}], "'cache[0]' has no entry \"pingpon\"; did you mean 'pingpong'?"),
        (
            "cache",
            [{"tensor": "A", "where": "smem"}],
            "'cache[0]' needs the entry 'at'; it has [\"tensor\", \"where\"]",
        ),
        ("cache", [CACHED, CACHED], "'cache' has the tensor 'A' twice"),
        ("cache", [{**CACHED, "tensor": "a\nb"}], "'cache[0].tensor' is \"a\\nb\"; give a name"),
        ("vectorize", {"axis": "n", "width": 3}, "'vectorize.width' is 3; give 1, 2, 4, 8 or 16"),
        ("epilogue", ["Relu"], "'epilogue[0]' is \"Relu\"; give an op"),
        ("arch", "sm_81", "'arch' is \"sm_81\"; did you mean 'sm_80'"),
        ("layout_hints", {"C_stride": "rows"}, "'layout_hints.C_stride' is \"rows\"; did you mean 'row'?"),
        ("algo_choice", {"matmul": "splitk_*"}, "'algo_choice.matmul' is \"splitk_*\"; did you mean 'splitk_serial'"),
        ("algo_choice", {"matmul": "fft_conv"}, "'algo_choice.matmul' is \"fft_conv\"; there are implicit_gemm"),
        ("split_k", 65536, "'split_k' is 65536; give an integer in 1 … 65535"),
        ("local_edges", [{**EDGE, "depth": 2}], "'local_edges[0].depth' is the depth of a circular buffer"),
        ("local_edges", [{**EDGE, "buffer": "ring"}], "'local_edges[0].buffer' is \"ring\"; did you mean 'smem_ring'"),
        ("schedule", "fast", "'schedule' is \"fast\"; there are simple, cooperative, pingpong"),
        ("cluster", [1, 17], "'cluster[1]' is 17; give an integer in 1 … 16"),
        ("raster", {"along": "k", "group": 1}, "'raster.along' is \"k\"; there are m, n"),
        ("wait_depth", 2, "'wait_depth' is 2; give 0 or 1"),
        ("wait_depth", False, "'wait_depth' is false; give 0 or 1"),
        ("registers", [40, 236], "'registers[1]' is 236; give a multiple of 8 in 24 … 256"),
        ("precision", "half", "'precision' is \"half\"; there are ieee, tf32"),
        ("async", {}, "'async' needs the entry 'enable'; it has none"),
        ("async", True, "'async' is true; give an object with enable"),
        ("loop", {"parallelize": [-1]}, "'loop.parallelize[0]' is -1; give an integer in 0 … 63"),
        ("tyle", [1, 2, 3], "a plan has no field \"tyle\"; did you mean 'tile'?"),
        ("asynchronous", {"enable": True}, 'a plan has no field "asynchronous"; there are scheme, tile'),
    ],
)
def test_a_value_outside_is_refused_with_what_is_allowed(name, value, expected):
    assert message(name, value).startswith(expected)


@given(st.dictionaries(st.sampled_from(tuple(ATTRIBUTES)), VALUES, min_size=1))
def test_any_value_is_a_plan_or_an_error(fields):
    try:
        plan, found = plan_of_values(fields), set()
    except TinycError as error:
        plan, found = Plan(), {each.name for each in error.errors}
    assert found <= {"InvalidPlan"}
    assert plan_of_values(plan.values()) == plan


def test_a_number_that_python_does_not_print_is_refused():
    assert message("stages", 10**5000).startswith("'stages' is a Python int; give")


def test_all_problems_are_reported_at_once():
    errors = refused(plan_of_values, {"stages": 0, "tile": [0, 0, 1], "tyle": 1})
    assert len(errors) == 4


def test_a_million_problems_are_not():
    assert len(refused(plan_of_values, {"order": ["M"] * 10**6})) == MOST_ERRORS


@pytest.mark.parametrize("spelling", ["sm80", "sm_80", "sm90", "sm_90a", "sm80_or_sm90"])
def test_an_architecture_keeps_its_spelling(spelling):
    assert plan_of_values({"arch": spelling}).arch == spelling
    assert set(ARCHITECTURES[spelling]) <= {"sm_80", "sm_90a"}


def test_the_warp_tile_of_002_is_a_scheme():
    plan = plan_of_values({"warp_tile": "naive_2x2_per_thread"})
    assert plan == Plan(scheme="naive_2x2_per_thread")
    assert plan == plan_of_values({"warp_tile": "naive_2x2_per_thread", "scheme": "naive_2x2_per_thread"})


def test_the_warp_tile_of_002_contradicts_another_scheme():
    (error,) = refused(plan_of_values, {"warp_tile": "naive_2x2_per_thread", "scheme": "mma"})
    assert "which is a scheme, and 'scheme' says another; remove one" in error.message


def test_a_plan_that_is_made_in_python_is_checked_too():
    assert [error.message for error in refused(lambda: Plan(stages=0))] == [message("stages", 0)]


def test_a_plan_shares_nothing_with_what_it_was_made_of():
    bind = {"m.o": "block.x"}
    plan = Plan(bind=bind, tile=[64, 64, 32])
    bind["m.o"] = "nonsense"
    assert plan.bind == {"m.o": "block.x"}
    assert plan.tile == (64, 64, 32)


def test_a_value_that_contains_itself_is_refused():
    value = []
    value.append(value)
    assert message("fuse", value).startswith("'fuse[0]' is a Python list")


def test_the_fields_that_are_given_are_shown():
    assert repr(Plan(stages=2, asynchronous={"enable": False})) == "Plan(stages=2, asynchronous={'enable': False})"
