"""Index values as expressions: what goes through positions and back is itself, one expression is one value."""

import contextlib

import pytest

from tinyc.codegen.counters import Counters
from tinyc.dialects.registry import context
from tinyc.expr import extents
from tinyc.mlir import arith, func, ir, scf

H, W = extents.symbol("H"), extents.symbol("W")


@contextlib.contextmanager
def counting(count):
    """Give counters in a function of `count` index values and the extents H and W, its values and their block."""
    with context(), ir.Location.unknown():
        module = ir.Module.create()  # the operations live no longer than it
        with ir.InsertionPoint(module.body):
            function = func.FuncOp("f", ([ir.IndexType.get()] * (count + 2), []))
        block = function.add_entry_block()
        *values, height, width = block.arguments
        with ir.InsertionPoint(block):
            yield Counters({"H": height, "W": width}), values, block


def names(block):
    return [op.name for op in block.operations]


@pytest.mark.parametrize(
    "shape", [(4, 3), (2, 1, 5, 3), (H, W), (3, H, W), (H, 3, W, 5), (W, 4, 3), (2, H * W, 3), (H, W, H)], ids=str
)
def test_a_number_that_is_taken_apart_and_put_together_is_itself(shape):
    with counting(1) as (counters, (k,), block):
        number = counters.counter(k, extents.product(shape))
        index = counters.delinearized(number, shape)
        assert counters.linear(index, shape) == number
        assert names(block) == []  # nothing is emitted before a value is asked for
        assert counters.value(counters.linear(index, shape)) == k


def test_an_extent_of_0_divides_nothing():
    with counting(1) as (counters, (k,), _):
        assert len(counters.delinearized(counters.counter(k, 0), (2, 0, 3))) == 3


def test_a_number_that_is_taken_apart_in_another_shape_is_not():
    with counting(1) as (counters, (k,), _):
        number = counters.counter(k, H * W)
        assert counters.linear(counters.delinearized(number, (H, W)), (W, H)) != number


def test_a_remainder_is_one_step():
    with counting(1) as (counters, (k,), block):
        number = counters.counter(k, 60)
        for position in counters.delinearized(number, (5, 4, 3)):
            counters.value(position)
        wanted = ["divui", "divui", "remui", "remui"]
        assert [name for name in names(block) if name != "arith.constant"] == [f"arith.{each}" for each in wanted]


def test_one_expression_is_one_value_and_none_outlives_its_block():
    with counting(2) as (counters, (i, j), block):
        at = counters.counter(i, 8) * 5 + counters.counter(j, 5)
        loop = scf.ForOp(i, j, i)
        with counters.scope(loop.body), ir.InsertionPoint(loop.body):
            inside = counters.value(at)
            assert counters.value(at) == inside
            assert counters.expression(inside) == at
            scf.yield_([])
        outside = counters.value(at)
        assert outside != inside
        assert counters.value(at) == outside
        assert names(block) == ["scf.for", "arith.constant", "arith.muli", "arith.addi"]


def test_what_changes_in_an_outer_loop_is_added_first():
    with counting(2) as (counters, (i, j), _):
        outer = counters.counter(i)
        loop = scf.ForOp(i, j, i)
        with counters.scope(loop.body), ir.InsertionPoint(loop.body):
            inner = counters.counter(loop.induction_variable)
            late = counters.counter(j)  # known only now, and there before the loop
            total = counters.value(inner + outer + late)
            scf.yield_([])
        assert list(total.owner.operands)[1] == loop.induction_variable


def test_the_step_of_an_expression_is_how_far_a_counter_moves_it():
    with counting(2) as (counters, (i, j), _):
        rows, columns = counters.counter(i, 12), counters.counter(j, W)
        at = counters.scaled(rows, W) + columns
        assert (counters.step(at, j), counters.step(at, i)) == (1, None)
        assert (counters.step(rows * 7 + 3, i), counters.step(rows * 7 + 3, j)) == (7, 0)
        quotient, remainder = counters.divided(rows, 4)
        assert (counters.step(quotient, i), counters.step(quotient * 4 + remainder, i)) == (None, 1)


def test_a_value_that_is_computed_inside_a_loop_may_change_with_its_counter():
    with counting(2) as (counters, (i, j), _):
        given = counters.expression(j)
        loop = scf.ForOp(i, j, i)
        with counters.scope(loop.body), ir.InsertionPoint(loop.body):
            counter = loop.induction_variable
            counters.counter(counter, 5)
            computed = counters.expression(arith.muli(counter, counter), 25)
            assert (counters.step(given, counter), counters.step(computed, counter)) == (0, None)
            scf.yield_([])
