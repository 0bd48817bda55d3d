"""The ranking: the order of predicted times, what is carried on from few steps, what is refused, what is kept."""

from dataclasses import replace

import numpy as np
import pytest

from ptxsim.clock.ranking import rank
from ptxsim.clock.ranking.candidates import Candidate
from ptxsim.clock.ranking.rank import RankedKernel, rank_kernels
from ptxsim.errors import InputError
from ptxsim_cases.ranked_kernels import chain_candidate, chain_launch, end_process_of_two_ctas
from ptxsim_cases.sass_text import needs_sass_tools


def slower_first():
    return [chain_candidate("three", 48), chain_candidate("one", 4), chain_candidate("two", 24)]


@needs_sass_tools
def test_the_fastest_comes_first_and_few_steps_tell_what_many_take():
    short = rank_kernels(slower_first(), jobs=1)
    whole = rank_kernels([replace(each, shorter=None) for each in slower_first()], jobs=1)
    assert [each.name for each in short] == [each.name for each in whole] == ["one", "two", "three"]
    assert {each.extrapolated_from for each in short} == {rank.FEW_STEPS}
    assert {each.extrapolated_from for each in whole} == {()}
    for one, other in zip(short, whole, strict=True):
        assert one.cycles == pytest.approx(other.cycles, rel=0.02)
        assert one.seconds == pytest.approx(other.seconds, rel=0.02)


@needs_sass_tools
def test_what_is_carried_on_lies_on_the_line_through_two_numbers_of_steps():
    times = {}
    for steps in (4, 8):
        (found,) = rank_kernels([Candidate("k", chain_launch(2, steps))], jobs=1)
        times[steps] = found.cycles, found.seconds
    (found,) = rank_kernels([chain_candidate("k", 2, steps=32)], jobs=1, few=(4, 8))
    for number, value in enumerate((found.cycles, found.seconds)):
        assert value == pytest.approx(times[8][number] + 6 * (times[8][number] - times[4][number]))
    assert found.estimate.cycles == times[8][0]


@needs_sass_tools
def test_processes_find_what_one_finds():
    assert rank_kernels(slower_first(), jobs=2) == rank_kernels(slower_first(), jobs=1)


@needs_sass_tools
def test_a_refused_candidate_comes_last_with_why_and_stops_no_other():
    fits, launch = chain_candidate("fits", 1), chain_launch(1, 100)
    two = replace(launch, args=[np.zeros((64, 64), np.float32)[:32], np.uint32(1), np.uint32(1)])
    base = np.zeros(64, np.float32)
    refused = [
        Candidate("no kernel", replace(launch, kernel="l")),
        Candidate("arguments", two),
        Candidate("text", replace(launch, ptx=launch.ptx.replace("fma.rn", "fma.ra"))),
        Candidate("shared", replace(launch, args=[base[:32], base[16:48]])),
        replace(fits, name="steps", steps=0),
        replace(fits, name="no steps", shorter=lambda steps: chain_launch(1, 4)),
    ]
    first, *others = rank_kernels([*refused[:3], fits, *refused[3:]], jobs=1)
    assert (first.name, first.error, first.near) == ("fits", "", ())
    assert [each.name for each in others] == [each.name for each in refused]
    assert {(each.seconds, each.estimate, each.near) for each in others} == {(float("inf"), None, ())}
    told = ("there is no kernel 'l'", "2 parameters", "line ", "share memory", "steps is 0", "24 steps")
    for each, words in zip(others, told, strict=True):
        assert words in each.error


@needs_sass_tools
def test_a_process_that_is_ended_refuses_its_candidate_and_no_other(tmp_path, monkeypatch):
    monkeypatch.setattr(rank, "_predict", end_process_of_two_ctas)
    candidates = [Candidate(name, chain_launch(4, 4, ctas)) for name, ctas in (("ends", 2), ("one", 1), ("three", 3))]
    *others, ended = rank_kernels(candidates, jobs=2, cache=tmp_path)
    assert sorted(each.name for each in others if not each.error) == ["one", "three"]
    assert (ended.name, ended.error) == ("ends", "its process was ended, maybe for lack of memory; give fewer jobs")
    assert len(list(tmp_path.iterdir())) == 2


@needs_sass_tools
def test_what_is_kept_is_not_predicted_again(tmp_path, monkeypatch):
    first = rank_kernels(slower_first(), jobs=1, cache=tmp_path)
    assert len(list(tmp_path.glob("*.json"))) == 6
    predicted = []
    monkeypatch.setattr(rank, "_predict", lambda sent, device: predicted.append(device))
    assert rank_kernels(slower_first(), jobs=1, cache=tmp_path) == first
    assert predicted == []


@needs_sass_tools
def test_a_refusal_is_kept_too_and_a_lack_of_memory_is_not(tmp_path, monkeypatch):
    candidate = Candidate("no kernel", replace(chain_launch(1, 4), kernel="l"))
    first = rank_kernels([candidate], jobs=1, cache=tmp_path)
    monkeypatch.setattr(rank, "_predict", lambda sent, device: [rank.Predicted(None, "no memory", lasts=False)])
    assert rank_kernels([candidate], jobs=1, cache=tmp_path) == first
    for _ in range(2):
        (found,) = rank_kernels([Candidate("k", chain_launch(1, 5))], jobs=1, cache=tmp_path)
        assert found.error == "no memory"
    assert len(list(tmp_path.glob("*.json"))) == 1


@needs_sass_tools
def test_arguments_stay_as_they_are():
    launch = chain_launch(1, 4)
    rank_kernels([Candidate("k", launch)], jobs=1)
    assert not launch.args[0].any()


def test_times_that_are_near_say_nothing_about_the_order():
    ranked = [RankedKernel(name, 0, seconds, object()) for name, seconds in (("a", 100), ("b", 104), ("c", 110))]
    ranked.append(RankedKernel("d", float("inf"), float("inf"), None, error="refused"))
    assert [rank._near(each, ranked, 0.05) for each in ranked] == [("b",), ("a",), (), ()]
    assert [rank._near(each, ranked, 0.06) for each in ranked] == [("b",), ("a", "c"), ("b",), ()]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jobs": 0}, "jobs is 0; give a number of processes from 1 on"),
        ({"apart": -1}, "apart is -1; give a share from 0 on"),
        ({"few": (8, 8)}, r"few is \(8, 8\); give two different numbers of steps"),
        ({"few": (0, 8)}, r"few is \(0, 8\)"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        rank_kernels([chain_candidate("k", 1)], **options)


def test_two_candidates_of_one_name_are_refused():
    with pytest.raises(InputError, match="two candidates are called 'k'; give each a name of its own"):
        rank_kernels([chain_candidate("k", 1), chain_candidate("k", 2)])


def test_an_unknown_device_is_refused_before_anything_runs():
    with pytest.raises(InputError, match="there is no device 'v100'"):
        rank_kernels([chain_candidate("k", 1)], "v100")
