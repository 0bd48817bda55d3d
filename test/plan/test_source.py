"""Whatever a user gives as a plan: a path, a text, a dictionary, a plan, or nothing."""

import pytest

from plan.plans import SAMPLE_000, SAMPLE_002, refused
from tinyc.diagnostics import TinycError
from tinyc.plan.dsl import parse_plan_dsl
from tinyc.plan.fields import Plan
from tinyc.plan.json_text import parse_plan_json
from tinyc.plan.source import MAX_CHARACTERS, load_plan
from tinyc.plan.table import PlanTable

KEY = "0123456789abcdef"


@pytest.mark.parametrize("source", [None, Plan(stages=2), PlanTable({KEY: Plan()})])
def test_a_plan_stays_what_it_is(source):
    assert load_plan(source) is source


@pytest.mark.parametrize(
    ("source", "plan"),
    [
        (SAMPLE_002, parse_plan_json(SAMPLE_002)),
        (SAMPLE_000, parse_plan_dsl(SAMPLE_000)),
        ("{}", Plan()),
        ("/* why */ // {\n {}", Plan()),
        ("split m 128", Plan(split={"m": 128})),
        (" set stages = 2", Plan(stages=2)),
        ("# why\nsplit m 128", Plan(split={"m": 128})),
        (b"\xef\xbb\xbfsplit m 128", Plan(split={"m": 128})),
        ("\ufeff{}", Plan()),
        ({"tile": (64, 64, 32)}, Plan(tile=(64, 64, 32))),
        ({KEY: {"stages": 2}}, PlanTable({KEY: Plan(stages=2)})),
        ({KEY: Plan(stages=2)}, PlanTable({KEY: Plan(stages=2)})),
    ],
)
def test_a_text_or_a_dictionary_is_read(source, plan):
    assert load_plan(source) == plan


@pytest.mark.parametrize(("name", "text"), [("p.json", SAMPLE_002), ("p.plan", SAMPLE_000), ("set p", SAMPLE_002)])
def test_a_file_is_read_from_its_path(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert load_plan(path) == load_plan(str(path)) == load_plan(text)


def test_an_error_in_a_file_names_it(tmp_path):
    path = tmp_path / "p.json"
    path.write_text("split m 128;")
    (error,) = refused(load_plan, path)
    assert (error.where.file, error.where.line) == (str(path), 1)


@pytest.mark.parametrize("source", ["missing.json", "no such file", "a\0b", "x" * 5000, "."])
def test_a_file_that_cannot_be_read_is_an_error(source):
    with pytest.raises(TinycError) as caught:
        load_plan(source)
    assert caught.value.name == "UnreadableFile"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "the plan is empty"),
        (" \n", "the plan is empty"),
        (b"", "the plan is empty"),
        (b"\xff\xfe{", "not UTF-8 text: byte 0 is 0xff"),
        (5, "int is not a type of a plan"),
        ([1], "list is not a type of a plan"),
        ({"cache": {1, 2}}, "the source is not a JSON value"),
        ({"tile": [1, 2, 10**5000]}, "the source is not a JSON value"),
        (
            "{" * (MAX_CHARACTERS + 1),
            f"the plan has {MAX_CHARACTERS + 1} characters, and may have {MAX_CHARACTERS}; plan fewer regions",
        ),
        ("[1,\n 2]", "a plan is an object of fields"),
        ("/* {", "the comment is not closed"),
    ],
    ids=lambda value: repr(value)[:20] if isinstance(value, str) else "",
)
def test_what_is_no_plan_is_refused(source, message):
    (error,) = refused(load_plan, source)
    assert error.message.startswith(message)


def test_a_dictionary_that_contains_itself_is_refused():
    source = {}
    source["cache"] = source
    (error,) = refused(load_plan, source)
    assert error.message.startswith("the source is not a JSON value")
