"""Plan tables: plans by region key, in one JSON object."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plan.plans import PLANS, places, refused
from tinyc.plan.fields import Plan
from tinyc.plan.json_text import parse_plan_json, plan_to_json
from tinyc.plan.table import PlanTable

FIRST, SECOND = "0123456789abcdef", "fedcba9876543210"
FUSIONS = st.dictionaries(
    st.sampled_from(["fuse", "no_fuse"]), st.lists(st.lists(st.sampled_from(["a", "b#1", "é"]), min_size=2, max_size=2))
)
KEYS = st.from_regex("[0-9a-f]{16}", fullmatch=True)


@settings(max_examples=30)
@given(st.builds(PlanTable, st.dictionaries(KEYS, PLANS, min_size=1, max_size=3), FUSIONS))
def test_a_table_loses_nothing_in_its_text(table):
    assert parse_plan_json(plan_to_json(table)) == table


def test_the_empty_table_says_what_the_plan_without_fields_does():
    assert parse_plan_json(plan_to_json(PlanTable())) == Plan()


def test_a_table_has_plans_for_its_regions_only():
    table = PlanTable({FIRST: Plan(stages=2)})
    assert table.get(FIRST) == Plan(stages=2)
    assert table.get(SECOND) is None


@pytest.mark.parametrize(
    ("text", "where", "node", "message"),
    [
        (f'{{"{FIRST}": {{"stages": 9}}}}', [(1, 23)], FIRST, "'stages' is 9"),
        (f'{{"{FIRST}": [1]}}', [(1, 2)], FIRST, "a plan is an object"),
        (f'{{"{FIRST}": {{}},\n "k": {{}}}}', [(2, 2)], None, '"k" is not a region key'),
        (f'{{"{FIRST}": {{}}, "{FIRST}": {{}}}}', [(1, 26)], None, f'the key "{FIRST}" stands twice'),
        (f'{{"{FIRST}": {{"tyle": 1}}, "{SECOND}": {{"x": 1}}}}', [(1, 23), (1, 56)], FIRST, "a plan has no field"),
    ],
)
def test_each_error_has_its_place_and_its_region(text, where, node, message):
    errors = refused(parse_plan_json, text)
    assert places(errors) == where
    assert errors[0].where.node == node
    assert errors[0].message.startswith(message)


def test_a_key_of_another_form_is_refused():
    (error,) = refused(PlanTable, {"matmul": Plan()})
    assert error.message == '"matmul" is not a region key; write its 16 digits out of 0-9 and a-f'
