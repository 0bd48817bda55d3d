"""The plan as a program: the sample of 000, each statement, how it is written, and where an error is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan.plans import SAMPLE_000, places, refused
from tinyc.diagnostics import TinycError
from tinyc.plan.dsl import parse_plan_dsl
from tinyc.plan.dsl_writer import plan_to_dsl
from tinyc.plan.fields import Plan

TOKENS = (
    *("split", "bind", "fuse", "set", "cache_read", "order", "m", "k.o", "A", "block.x", "8", "stages", "at", "smem"),
    *("=", "[", "]", "{", "}", "{}", "->", ";", ";", ";", ",", '"', "#", "\n"),
)


def test_the_sample_of_000_is_read_as_printed():
    assert parse_plan_dsl(SAMPLE_000) == Plan(
        split={"m": 128, "n": 64, "k": 64},
        order=("m.o", "n.o", "k.o", "m.i.o", "n.i.o", "k.i.o", "m.i.i", "n.i.i", "k.i.i"),
        bind={"m.o": "block.y", "n.o": "block.x", "m.i.o": "warp.y", "n.i.o": "warp.x"},
        pipeline="k.i",
        stages=2,
        cache=(
            {"tensor": "A", "where": "smem", "at": "k.i", "pingpong": True},
            {"tensor": "B", "where": "smem", "at": "k.i", "pingpong": True},
        ),
        vectorize={"axis": "n.i.i", "width": 8},
        predicate_tail=("m.i.i", "n.i.i", "k.i.i"),
        epilogue=("bias", "relu"),
    )


def test_the_sample_of_000_is_written_in_its_own_statements():
    lines = plan_to_dsl(parse_plan_dsl(SAMPLE_000)).splitlines()
    assert [line.split()[0] for line in lines] == [
        *("split", "reorder", "bind", "pipeline", "cache_read", "vectorize", "predicate_tail", "epilogue"),
    ]


@pytest.mark.parametrize(
    ("text", "plan"),
    [
        ("split m 128", Plan(split={"m": 128})),
        ("fuse m.o n.o -> t; fuse t b->u;", Plan(fuse=(("m.o", "n.o", "t"), ("t", "b", "u")))),
        ("unroll k.i 4", Plan(unroll={"k.i": 4})),
        ("pipeline k stages = 3 ;", Plan(pipeline="k", stages=3)),
        ("cache_read W:0 smem at=k", Plan(cache=({"tensor": "W:0", "where": "smem", "at": "k"},))),
        (
            "cache_read A smem at=k pingpong=false",
            Plan(cache=({"tensor": "A", "where": "smem", "at": "k", "pingpong": False},)),
        ),
        ("algo_choice matmul splitk_serial", Plan(algo_choice={"matmul": "splitk_serial"})),
        ("algo_choice conv fft_conv; algo_choice attention online_softmax", None),
        ('set arch = "sm80"', Plan(arch="sm80")),
        ('set warp_tile = "naive_2x2_per_thread"', Plan(scheme="naive_2x2_per_thread")),
        ('set async={"enable" # ;\n: false}', Plan(asynchronous={"enable": False})),
        ('set cache = [{"tensor": "#;\\"", "where": "smem", "at": "k"}];', None),
        ("set split = {}; set bind = {}; set order = [];", Plan(split={}, bind={}, order=())),
        ("# nothing but a comment", Plan()),
    ],
)
def test_a_statement_gives_its_field(text, plan):
    read = parse_plan_dsl(text)
    assert plan in (None, read)
    assert parse_plan_dsl(plan_to_dsl(read)) == read


@pytest.mark.parametrize(
    ("plan", "text"),
    [
        (Plan(stages=2), "set stages = 2;\n"),
        (Plan(pipeline="k"), 'set pipeline = "k";\n'),
        (Plan(epilogue=()), "set epilogue = [];\n"),
        (Plan(order=("m", "bind")), 'set order = ["m", "bind"];\n'),
        (Plan(tile=(1, 2, 3), split={"m": 1}), "split m 1;\nset tile = [1, 2, 3];\n"),
        (
            Plan(cache=({"tensor": "a b", "where": "smem", "at": "k"},)),
            'set cache = [{"tensor": "a b", "where": "smem", "at": "k"}];\n',
        ),
    ],
)
def test_what_no_statement_can_say_is_set(plan, text):
    assert plan_to_dsl(plan) == text


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("splt m 1", [(1, 1)], "there is no statement \"splt\"; did you mean 'split'?"),
        ("split m", [(1, 8)], 'expected an integer after "m", and the statement ends'),
        ("split m\n  12x", [(1, 7)], "'split.m' is \"12x\"; give an integer"),
        ("split M 1; split m 0", [(1, 7), (1, 18)], "a key of 'split' is \"M\"; give an axis"),
        ("split m 1;\nsplit m 2", [(2, 7)], '"split" of "m" is given twice'),
        ("split m 1 2", [(1, 11)], 'expected \';\' after "1", and there is "2"'),
        ("split m 1\nsplit n 2", [(2, 1)], "expected ';' after \"1\", and there is \"split\"; a ';' is missing"),
        ("predicate_tail m\nepilogue relu", [(2, 1)], 'expected an axis or \';\' after "m", and there is "epilogue"'),
        ("epilogue relu; epilogue bias", [(1, 25)], '"epilogue" is given twice'),
        ("set bind = {}; bind m block.x", [(1, 21)], '"bind" of "m" is given twice'),
        ("fuse a b -> c; set fuse = []", [(1, 20)], '"fuse" is given twice'),
        ("set fuse = []; fuse a b -> c", [(1, 21)], '"fuse" is given twice'),
        ("set stages = 2; pipeline k stages=3", [(1, 35)], '"stages" is given twice'),
        ("fuse m n t", [(1, 10)], 'expected \'->\' after "n", and there is "t"'),
        ("bind m block.w", [(1, 6)], "'bind.m' is \"block.w\"; did you mean"),
        ("cache_read A gmem at=k", [(1, 14)], '\'cache[0].where\' is "gmem"; give "smem"'),
        ("cache_read A smem at=K pingpong=no", [(1, 22), (1, 33)], "'cache[0].at' is \"K\""),
        ("algo_choice matmul winograd", [(1, 13)], "'algo_choice.matmul' is \"winograd\"; there are implicit_gemm"),
        ("set tyle = 1", [(1, 5)], "a plan has no field \"tyle\"; did you mean 'tile'?"),
        ("set tile = [1,\n 0, 2]", [(2, 2)], "'tile[1]' is 0"),
        ("set  tile = [1, 2", [(1, 18)], "Expecting ',' delimiter"),
        ('set scheme = "mma', [(1, 14)], "Unterminated string"),
        ("set async = {}; set stages =", [(1, 5), (1, 29)], "'async' needs the entry 'enable'"),
        ('set async = {"enable": true, "enable": false}', [(1, 30)], 'the key "enable" stands twice'),
        ("set tile [1]", [(1, 10)], 'expected \'=\' after "tile", and there is "["'),
        ("split m 1;; split n 1", [(1, 11)], "expected a statement, and the statement ends"),
        ('split "m" 1', [(1, 7)], 'expected an axis after "split", and there is'),
        ("unroll k " + "9" * 5000, [(1, 8)], "'unroll.k' is"),
        ("unroll k -1", [(1, 8)], "'unroll.k' is -1; give"),
        ("vectorize n 3", [(1, 11)], "'vectorize.width' is 3; give 1, 2, 4, 8 or 16"),
        ("set a = " + "[" * 10**5, [(1, 73)], "more than 64 nested brackets"),
        ("", [(None, None)], "the text is empty"),
        (" \n", [(None, None)], "the text is empty"),
        ("\0", [(1, 1)], "there is no statement"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_each_error_has_its_place(text, where, message):
    errors = refused(parse_plan_dsl, text, "p.dsl")
    assert places(errors) == where
    assert errors[0].message.startswith(message)
    assert {error.where.file for error in errors} == {"p.dsl"}


@given(st.lists(st.sampled_from(TOKENS)))
def test_any_tokens_are_a_plan_or_an_error(tokens):
    try:
        plan = parse_plan_dsl(" ".join(tokens))
    except TinycError as error:
        plan, found = Plan(), {each.name for each in error.errors}
    else:
        found = set()
    assert found <= {"InvalidPlan"}
    assert parse_plan_dsl(plan_to_dsl(plan)) == plan


@pytest.mark.parametrize(
    "text", ["[" * 10**5, ";" * 10**5, '"' * 10**5, "x " * 10**5, "set a=1;" * 10**4, "# x\n" * 10**4 + "y"]
)
def test_long_nonsense_is_refused_in_linear_time(text):
    start = time.monotonic()
    refused(parse_plan_dsl, text)
    assert time.monotonic() - start < 10
