"""The plan as an attribute: how it is written, what is read, and what is refused at the place of its op."""

import pytest

from plan.plans import SAMPLE_002, refused
from tinyc.diagnostics import Where
from tinyc.dialects.registry import context
from tinyc.mlir import ir
from tinyc.plan.attribute import plan_attribute, plan_of_attribute
from tinyc.plan.fields import Plan
from tinyc.plan.json_text import parse_plan_json


def parsed(text):
    with context():
        return ir.Attribute.parse(text)


def test_the_attribute_reads_as_the_plan_does():
    with context():
        written = str(plan_attribute(parse_plan_json(SAMPLE_002)))
    assert written == (
        '{arch = "sm80_or_sm90", async = {enable = false}, bind = {m.o = "block.y", n.o = "block.x"}, '
        'cache = [{at = "k.i", tensor = "X", where = "smem"}, {at = "k.i", tensor = "W", where = "smem"}], '
        'epilogue = ["bias", "relu"], predicate_tail = ["m", "n", "k"], scheme = "naive_2x2_per_thread", '
        "stages = 2 : i64, tile = array<i64: 64, 64, 32>}"
    )


@pytest.mark.parametrize(
    "text",
    ["{stages = 2 : i64}", "{stages = 2 : i32}", "{stages = 2 : ui8}", "{stages = 2 : index}"],
)
def test_an_integer_has_any_type(text):
    assert plan_of_attribute(parsed(text)) == Plan(stages=2)


@pytest.mark.parametrize("text", ["array<i64: 1, 2, 3>", "array<i32: 1, 2, 3>", "[1, 2 : i32, 3]"])
def test_a_list_of_integers_has_any_spelling(text):
    assert plan_of_attribute(parsed(f"{{tile = {text}}}")) == Plan(tile=(1, 2, 3))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{stages = 9}", "'stages' is 9; give an integer in 1 … 8"),
        ("{stages = true}", "'stages' is true; give"),
        ("{stages}", "'stages' is the attribute unit; a plan is made of integers"),
        ("{stages = 2 : i128}", "'stages' is the attribute 2 : i128; a plan is made of integers of at most 64 bits"),
        ("{tile = [1, 2.5 : f32, 3]}", "'tile[1]' is the attribute 2.500000e+00 : f32; a plan"),
        ("{tyle = 1}", "a plan has no field \"tyle\"; did you mean 'tile'?"),
        ("dense<1> : tensor<3xi32>", "'plan' is the attribute dense<1> : tensor<3xi32>; a plan"),
        ("5", "a plan is an object of fields"),
        ('{scheme = "\\FF"}', 'a text in {scheme = "\\FF"} is not UTF-8'),
    ],
)
def test_an_attribute_that_is_no_plan_is_refused_at_its_op(text, message):
    where = Where(None, "f.mlir", 3, 5)
    (error,) = refused(plan_of_attribute, parsed(text), where)
    assert error.message.startswith(message)
    assert error.where == where
