"""What is given to `compile` as a program and its sizes: told apart, and refused with an error where it is neither."""

import numpy as np
import pytest

from importers.documents import node, program, signature, tensor
from tinyc.diagnostics import TinycError
from tinyc.driver import sources

PROGRAM = program(tensor("x", "M"), node("y", "NEG", "x"))


@pytest.mark.parametrize("size", [3, np.int64(3), np.uint8(3)])
def test_every_kind_of_integer_is_a_size(size):
    assert signature(sources.read_module(PROGRAM, {"M": size}))[0] == {"x": "fp32 [3]"}


@pytest.mark.parametrize("size", [True, 3.0, "3", None, -1, np.int64(-1), 2**63])
def test_what_is_no_size_is_refused(size):
    with pytest.raises(TinycError) as caught:
        sources.read_module(PROGRAM, {"M": size})
    assert caught.value.name == "InvalidExtent"


@pytest.mark.parametrize("bind", [[("M", 1)], "M=1", 5, []])
def test_bind_is_a_mapping(bind):
    with pytest.raises(TinycError, match="give a mapping") as caught:
        sources.read_module(PROGRAM, bind)
    assert caught.value.name == "InvalidExtent"


@pytest.mark.parametrize("source", ["", " \n", b""])
def test_an_empty_source_is_called_so(source):
    with pytest.raises(TinycError, match="the source is empty") as caught:
        sources.read_module(source)
    assert caught.value.name == "InvalidJson"


def test_an_open_comment_is_called_so():
    with pytest.raises(TinycError, match="comment is not closed") as caught:
        sources.read_module("/* unterminated {")
    assert caught.value.name == "InvalidJson"
