"""The ops of the Frontend layer by name: each formula has its function in numpy, and none is said twice."""

import pytest

from tinyc.executors.frontend.evaluation import NUMPY_FUNCTIONS
from tinyc.formulas.registry import FAMILIES, SCHEMAS, SELECTORS, schema_named
from tinyc.formulas.schema import by_choice

PAIRS = [(op, choice) for op, choice, _ in by_choice(family.FORMULAS for family in FAMILIES)]


def test_every_formula_has_its_function_in_numpy():
    assert sorted(PAIRS, key=str) == sorted(NUMPY_FUNCTIONS, key=str)


def test_no_formula_takes_the_place_of_another():
    assert len(PAIRS) == len(set(PAIRS)) == sum(map(len, SCHEMAS.values()))


def test_an_op_has_a_selector_where_it_has_choices():
    assert {op for op, choice in PAIRS if choice is not None} == set(SELECTORS)
    assert not {op for op, choice in PAIRS if choice is None} & set(SELECTORS)


def test_tables_are_read_op_by_op_and_choice_by_choice():
    tables = [{"matmul": 1, "reduce": {"sum": 2}}, {"reduce": {"max": 3}}]
    assert list(by_choice(tables)) == [("matmul", None, 1), ("reduce", "sum", 2), ("reduce", "max", 3)]


def test_operands_have_the_names_of_the_formula():
    gemm = schema_named("gemm")
    assert gemm.by_name([1, None]) == {"a": 1}
    assert schema_named("elementwise gelu").by_name([1]) == {"x": 1}
    with pytest.raises(ValueError, match="longer"):
        gemm.by_name([1, 2, 3, 4])
