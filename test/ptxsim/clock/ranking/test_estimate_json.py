"""Estimates as JSON: back comes what went, and what is of another shape is refused."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pytest

from ptxsim.clock.occupancy import Occupancy
from ptxsim.clock.ranking.estimate_json import MalformedEstimate, estimate_from_json, estimate_to_json


@dataclass(frozen=True)
class Told:
    name: str
    cycles: float
    exact: bool
    held: Occupancy | None
    waits: Mapping[tuple[str, int], float]
    shape: tuple[int, int, int]
    lines: tuple[str, ...] = ()


TOLD = Told("k", 12.5, True, Occupancy(2, "warps"), {("barrier", 7): 0.1, ("copies", 0): 3.0}, (1, 2, 3), ("a", "b"))


def again(value):
    return estimate_from_json(type(value), json.loads(json.dumps(estimate_to_json(value))))


def test_back_comes_what_went():
    assert again(TOLD) == TOLD
    assert again(replace(TOLD, held=None, waits={}, lines=())) == replace(TOLD, held=None, waits={}, lines=())


def test_the_order_of_a_mapping_is_kept():
    assert list(again(TOLD).waits) == [("barrier", 7), ("copies", 0)]


def test_numbers_of_numpy_become_plain_ones():
    found = again(replace(TOLD, cycles=np.float64(0.1), shape=(np.int64(4), 5, 6)))
    assert (found.cycles, type(found.cycles), found.shape) == (0.1, float, (4, 5, 6))


def test_what_has_no_form_in_json_is_refused():
    with pytest.raises(TypeError, match="a set has no form in JSON"):
        estimate_to_json({1})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"cycles": "12"}, "'12' is no float"),
        ({"exact": 1}, "1 is no bool"),
        ({"shape": [1, 2]}, "2 entries are given; there should be 3"),
        ({"shape": 1}, "1 is no list"),
        ({"held": {"ctas": 2}}, "is none of"),
        ({"waits": [["barrier", 0.5]]}, "'barrier' is no list"),
        ({"beside": 1}, "this has not the fields of a Told"),
    ],
)
def test_what_is_of_another_shape_is_refused(changed, message):
    with pytest.raises(MalformedEstimate, match=message):
        estimate_from_json(Told, estimate_to_json(TOLD) | changed)
