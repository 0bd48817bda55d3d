"""Errors: a place is completed, and a defect of tinyc stays one."""

import pytest

from tinyc.diagnostics import InternalError, Remark, TinycError, Where, suggest


def test_a_place_is_completed_and_never_replaced():
    error = TinycError("InvalidExtent", "too large", Where(node="x")).at(Where(node="y", file="program.json", line=3))
    assert str(error) == "program.json:3, node 'x': error: too large [TC114 InvalidExtent]"


@pytest.mark.parametrize(("name", "hint"), [("InvalidIR", "did you mean 'InvalidIr'"), ("MyCode", "there are Broad")])
def test_the_name_of_an_error_is_one_of_the_codes(name, hint):
    with pytest.raises(ValueError, match=rf"one of tinyc.diagnostics.CODES, not '{name}'; {hint}"):
        TinycError(name, "what, where, what to do")


def test_a_defect_with_a_place_is_still_a_defect():
    error = InternalError("a pass failed").at(Where(node="x"))
    assert isinstance(error, InternalError)
    assert str(error) == "node 'x': error: a pass failed [TC901 InternalError]"


def test_what_a_terminal_would_obey_is_escaped():
    error = TinycError("InvalidExtent", "node 'x\0' is\ntoo large \u202e", Where(node="\x1b[31m\n"))
    assert str(error) == ("node '\\x1b[31m\\n': error: node 'x\\x00' is\ntoo large \\u202e [TC114 InvalidExtent]")


def test_a_remark_is_escaped_as_an_error_is():
    assert str(Remark("found", Where(node="x\0"), "a \x07")) == "node 'x\\x00': remark: a \\x07 [found]"


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("region-pln", ["region-plan", "cse"], "; did you mean 'region-plan'?"),
        ("zzz", ["region-plan", "cse"], "; there are region-plan, cse"),
        ("zzz", [], "; there are none"),
    ],
)
def test_suggestions(name, known, expected):
    assert suggest(name, known) == expected
