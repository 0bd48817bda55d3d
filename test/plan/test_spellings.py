"""The three spellings of a plan convert into each other without loss."""

import itertools

import pytest
from hypothesis import given, settings

from plan.plans import FIELDS, PLANS
from tinyc.dialects.registry import context
from tinyc.mlir import ir
from tinyc.plan.attribute import plan_attribute, plan_of_attribute
from tinyc.plan.dsl import parse_plan_dsl
from tinyc.plan.dsl_writer import plan_to_dsl
from tinyc.plan.fields import ATTRIBUTES, Plan
from tinyc.plan.json_text import parse_plan_json, plan_to_json


def through_json(plan):
    return parse_plan_json(plan_to_json(plan))


def through_dsl(plan):
    return parse_plan_dsl(plan_to_dsl(plan))


def through_attribute(plan):
    with context():
        return plan_of_attribute(plan_attribute(plan))


def through_attribute_text(plan):
    with context():
        return plan_of_attribute(ir.Attribute.parse(str(plan_attribute(plan))))


SPELLINGS = (through_json, through_dsl, through_attribute, through_attribute_text)


def test_the_random_plans_have_every_field():
    assert FIELDS.keys() == set(ATTRIBUTES.values())


@pytest.mark.parametrize(("first", "second"), list(itertools.product(SPELLINGS, repeat=2)))
@settings(max_examples=30)
@given(PLANS)
def test_two_spellings_after_one_another_lose_nothing(first, second, plan):
    assert second(first(plan)) == plan


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_the_plan_without_fields_has_every_spelling(spelling):
    assert spelling(Plan()) == Plan()


@given(PLANS)
def test_equal_plans_are_written_as_equal_text(plan):
    other = Plan(**{name: backwards(value) for name, value in vars(plan).items()})
    with context():
        for write in (plan_to_json, plan_to_dsl, plan_attribute):
            assert write(other) == write(plan)


def backwards(value):
    if isinstance(value, dict):
        return {key: backwards(each) for key, each in reversed(value.items())}
    return [backwards(each) for each in value] if isinstance(value, tuple) else value
