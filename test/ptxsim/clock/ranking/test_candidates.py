"""Which launches of a candidate are predicted: two short ones, or the whole one."""

from dataclasses import replace

import numpy as np
import pytest

from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.errors import InputError


def launch_of(steps, grid=4):
    return KernelLaunch("text", "k", (grid, 1, 1), (32, 1, 1), [np.int32(steps)])


def test_two_short_launches_stand_for_a_long_one():
    made = Candidate("a", launch_of(64), launch_of, 64).launches((8, 16))
    assert {steps: each.args for steps, each in made.items()} == {8: [8], 16: [16]}


def test_a_launch_of_few_steps_is_predicted_as_it_is():
    whole = launch_of(16)
    assert Candidate("a", whole, launch_of, 16).launches((8, 16)) == {16: whole}


def test_a_launch_without_shorter_ones_is_predicted_as_it_is():
    whole = launch_of(64)
    assert Candidate("a", whole).launches((8, 16)) == {0: whole}


def test_shorter_launches_without_the_steps_of_the_whole_one_are_refused():
    with pytest.raises(InputError, match="'a' has shorter launches, and steps is 0; give those of its launch"):
        Candidate("a", launch_of(64), launch_of).launches((8, 16))


def test_shorter_launches_of_another_grid_are_refused():
    candidate = Candidate("a", launch_of(64), lambda steps: replace(launch_of(steps), grid=(2, 1, 1)), 64)
    with pytest.raises(
        InputError, match=r"launch of 8 steps of 'a' has grid.*\(2, 1, 1\).*the whole one .*\(4, 1, 1\)"
    ):
        candidate.launches((8, 16))
