"""Errors: a place is completed, and a defect of tinyc stays one."""

from tinyc.diagnostics import InternalError, TinycError, Where


def test_a_place_is_completed_and_never_replaced():
    error = TinycError("InvalidExtent", "too large", Where(node="x")).at(Where(node="y", file="program.json", line=3))
    assert str(error) == "program.json:3, node 'x': error: too large [TC114 InvalidExtent]"


def test_a_defect_with_a_place_is_still_a_defect():
    error = InternalError("a pass failed").at(Where(node="x"))
    assert isinstance(error, InternalError)
    assert str(error) == "node 'x': error: a pass failed [TC901 InternalError]"
