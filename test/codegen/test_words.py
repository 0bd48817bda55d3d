"""Words: an expression is the same number whether it is computed or emitted, and what does nothing is not emitted."""

import itertools

import pytest

from tinyc.codegen.words import Word, as_i32, equals, is_below, smaller, word_where
from tinyc.dialects.gpu.fragment_layout import FragmentLayout
from tinyc.dialects.gpu.shared_layout import SharedLayout
from tinyc.dialects.registry import context
from tinyc.executors.gpu.arithmetic import COMPUTE, constant_array
from tinyc.mlir import arith, ir

LAYOUTS = [
    SharedLayout(64, 64, 2, "row", 128),
    SharedLayout(64, 96, 2, "col", 64),
    SharedLayout(32, 48, 2, "row", 32),
    SharedLayout(24, 40, 4),
]


def evaluated(formula, *numbers):
    """What a formula of words gives for numbers, by the ops that it emits, and how many these are."""
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            i32 = ir.IntegerType.get_signless(32)
            result = as_i32(formula(*(Word(arith.constant(i32, number)) for number in numbers)))
        values, computed = {}, 0
        for op in module.body.operations:
            if isinstance(op, arith.ConstantOp):
                values[op.result] = constant_array(op)
            else:
                computed += 1
                values[op.results[0]] = COMPUTE[type(op)](op, *(values[each] for each in op.operands))
        return int(values[result][0]), computed


@pytest.mark.parametrize(
    "formula",
    [
        lambda x, y: x + y * 3,
        lambda x, y: 7 - x + y,
        lambda x, y: (x ^ y) | 1,
        lambda x, y: x // 4 + x % 4 * 10,
        lambda x, y: x // 3 + x % 5,
        lambda x, y: divmod(x, 8)[0] * 100 + divmod(x, y)[1],
        lambda x, y: 5 ^ (2 * x),
    ],
)
def test_an_expression_is_the_same_number_computed_or_emitted(formula):
    for x, y in itertools.product((0, 3, 7), (1, 2, 9)):
        assert evaluated(formula, x, y)[0] == formula(x, y)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_an_offset_in_shared_memory_is_the_same_number(layout):
    for row, column in itertools.product(range(0, layout.rows, 5), range(0, layout.columns, 7)):
        assert evaluated(layout.offset, row, column)[0] == layout.offset(row, column)


@pytest.mark.parametrize("layout", [FragmentLayout("mma", 64, 64, 32, 16), FragmentLayout("wgmma", 128, 64, 64, 32)])
def test_the_start_of_a_warp_is_the_same_number(layout):
    for warp in range(layout.threads // 32):
        found = tuple(evaluated(lambda each, side=side: layout.start(each)[side], warp)[0] for side in (0, 1))
        assert found == layout.start(warp)


@pytest.mark.parametrize(
    "formula",
    [
        lambda x: x + 0,
        lambda x: x - 0,
        lambda x: x * 1,
        lambda x: x ^ 0,
        lambda x: x | 0,
        lambda x: x // 1,
        lambda x: x * 0,
    ],
)
def test_what_does_nothing_is_not_emitted(formula):
    assert evaluated(formula, 6) == (formula(6), 0)


@pytest.mark.parametrize(
    ("formula", "ops"),
    [
        (lambda x: x + 5 + 7, 1),
        (lambda x: (x + 64) // 32 % 2, 2),
        (lambda x: (x + 64) % 32, 1),
        (lambda x: x * 4 + 3 - 3, 1),
        (lambda x: (x % 8 + 40) // 32, 1),  # the remainder alone, which the quotient, 1, does not take
        (lambda x: (x % 8 + 40) % 32, 2),
        (lambda x: (x % 8 + 28) // 32, 3),
    ],
)
def test_numbers_that_are_added_are_known(formula, ops):
    for x in (0, 3, 7, 30, 77):
        found, emitted = evaluated(formula, x)
        assert found == formula(x)
        assert emitted == ops


def test_powers_of_two_are_shifts_and_masks():
    with context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            word = Word(arith.constant(ir.IntegerType.get_signless(32), 77))
            _ = word // 16, word % 16
        names = [op.operation.name for op in module.body.operations]
    assert [name for name in names if name != "arith.constant"] == ["arith.shrui", "arith.andi"]


def test_choices_and_comparisons():
    assert evaluated(lambda x, y: smaller(x, y), 5, 9)[0] == 5
    assert smaller(5, 9) == 5
    for x in (3, 4):
        assert evaluated(lambda each: word_where(is_below(each, 4), 10, 20), x)[0] == (10 if x < 4 else 20)
        assert evaluated(lambda each: word_where(equals(each, 4), 10, 20), x)[0] == (10 if x == 4 else 20)
