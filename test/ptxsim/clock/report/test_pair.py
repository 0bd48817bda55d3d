"""A kernel beside another: which is faster, whether that is told, and where they differ."""

import json

import pytest

from ptxsim.clock.report.pair import EstimatePair, pair_object, pair_text
from ptxsim_cases.estimates import LINES, made_up


def beside(**different):
    return EstimatePair(made_up(), made_up(**different), LINES, LINES)


@pytest.mark.parametrize(("cycles", "told"), [(3510.0, False), (3800.0, False), (4000.0, True), (2900.0, True)])
def test_of_kernels_with_one_limiter_five_per_cent_are_told(cycles, told):
    pair = beside(cycles=cycles)
    assert pair.told_from == 0.05
    assert pair.ratio == pytest.approx((cycles / 1.755e9 + 2.5e-6) / 4.5e-6)
    assert pair.is_told == told


def test_of_other_limiters_errors_do_not_cancel():
    pair = beside(cycles=4200.0, shares={"tensor": 0.95})
    assert pair.told_from == pytest.approx(0.02**0.5)  # 10 % of each
    assert not pair.is_told


def test_the_text_says_which_is_faster_and_where_they_differ():
    text = pair_text(beside(cycles=7020.0, waits={("scoreboard", 1): 0.1}), ("a.ptx", "b.ptx"))
    told = "a.ptx is 1.444 times as fast as b.ptx; the model tells differences from 5.0 % on, as both have one limiter"
    assert text.splitlines()[0] == f"faster   {told}"
    # 0.5 of 2 us and 0.1 of 4 us; the fma waits in a alone, the load in b alone
    for row in (
        "  results of earlier instructions  1.00 us  400 ns   -600 ns\n",
        "  results of earlier instructions  1.00 us  0.00 ns  -1.00 us  2                             fma.rn.f32\n",
        "  results of earlier instructions  0.00 ns  400 ns   +400 ns                  1              ld.global.f32\n",
        "  mbarriers                        500 ns   0.00 ns  -500 ns   3                             bra\n",
        "  cycles                     3,510             7,020\n",
    ):
        assert row in f"{text}\n", text


def test_a_difference_that_is_too_small_is_not_told():
    assert pair_text(beside(), ("a", "b")).startswith("faster   not told: a is 1.000 times as fast as b, and the model")


def test_json_has_the_difference():
    facts = json.loads(json.dumps(pair_object(beside(cycles=7020.0))))
    assert facts["is_told"] is True
    assert facts["ratio"] == pytest.approx(6.5 / 4.5)
    assert facts["waits"][0]["first_seconds"] == pytest.approx(1e-6)
