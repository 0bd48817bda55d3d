"""The plan as JSON: the sample of 002, how it is written, and where an error is."""

import time

import pytest

from plan.plans import SAMPLE_002, places, refused
from tinyc.plan.fields import Plan
from tinyc.plan.json_text import parse_plan_json, plan_to_json


def test_the_sample_of_002_is_read_as_printed():
    assert parse_plan_json(SAMPLE_002) == Plan(
        scheme="naive_2x2_per_thread",
        tile=(64, 64, 32),
        stages=2,
        bind={"m.o": "block.y", "n.o": "block.x"},
        cache=({"tensor": "X", "where": "smem", "at": "k.i"}, {"tensor": "W", "where": "smem", "at": "k.i"}),
        predicate_tail=("m", "n", "k"),
        epilogue=("bias", "relu"),
        arch="sm80_or_sm90",
        asynchronous={"enable": False},
    )


def test_a_plan_is_written_a_field_on_a_line():
    plan = Plan(stages=2, tile=(64, 64, 32), bind={"m.i.o": "warp.y", "m.o": "block.y"})
    assert plan_to_json(plan) == (
        '{\n  "tile": [64, 64, 32],\n  "stages": 2,\n  "bind": {"m.o": "block.y", "m.i.o": "warp.y"}\n}\n'
    )


def test_comments_and_trailing_commas_are_forgiven():
    assert parse_plan_json('{"stages": 2, /* two */ } // ,') == Plan(stages=2)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"tile": [64,\n  0, 32]}', [(2, 3)]),
        ('{\n "tyle": 1}', [(2, 2)]),
        ('{"cache": [{"tensor": "A", "where": "smem",\n  "at": "K"}]}', [(2, 3)]),
        ('{"cache": [ {"tensor": "A", "where": "smem"}]}', [(1, 13)]),
        ('{"bind": {"m.o":"block.x", /* " */ "n.o":"block"}}', [(1, 36)]),
        ('{"stages":9,"split":{"m":0,},"tile":[1,2,],}', [(1, 2), (1, 22), (1, 30)]),
        ('{"stages": 1,\n "stages": 2}', [(2, 2)]),
        ('{"cache": [{"at": "m", "at": "n"}]}', [(1, 24)]),
        ('{"st\\u0061ges": 1, "stages": 2}', [(1, 20)]),
        ('{"stages": }', [(1, 12)]),
        ('{"stages": 1', [(1, 13)]),
        (" [1]", [(1, 2)]),
        ('"tile"', [(1, 1)]),
        ("// a\n null", [(1, 1)]),
        ("[" * 10**5, [(1, 65)]),
        ('{"a":' * 10**5, [(1, 321)]),
        ('{"stages": ' + "9" * 5000 + "}", [(None, None)]),
        ('{"\\ud800": 1}', [(None, None)]),
        ("", [(None, None)]),
        (" \n", [(None, None)]),
        ('{"stages": NaN}', [(1, 2)]),
        ('{"stages": 1e400}', [(1, 12)]),
        (",,]]}}{{", [(1, 1)]),
        ("{]", [(1, 2)]),
        ('{"a', [(1, 2)]),
        ("{:1}", [(1, 2)]),
        ("/* {", [(1, 1)]),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_each_error_has_its_place(text, where):
    errors = refused(parse_plan_json, text, "p.json")
    assert places(errors) == where
    assert {error.where.file for error in errors} == {"p.json"}


@pytest.mark.parametrize("text", ["[" * 10**6, '"\\' * 10**6, '{"a":1,' * 10**5, '{"cache":[' + "{}," * 10**5 + "]}"])
def test_long_nonsense_is_refused_in_linear_time(text):
    start = time.monotonic()
    refused(parse_plan_json, text)
    assert time.monotonic() - start < 20
