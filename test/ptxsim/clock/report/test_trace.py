"""Timelines as Chrome's trace events: a row for each warp, pipe, and for what overlaps."""

import json

import pytest

from ptxsim.clock.replay.timeline import Timeline, Track
from ptxsim.clock.report.trace import TracedKernel, trace_text
from ptxsim_cases.estimates import LINES, made_up

#: Cycles of a microsecond.
US = 1755.0


@pytest.fixture
def timeline():
    made = Timeline()
    made.add(Track("warp", 0, 0, 7, 1), "mbarrier", 3, 0.0, US)
    made.add(Track("warp", 0, 0, 7, 0), "scoreboard", 2, US, 2 * US)
    made.add(Track("tensor", 0, unit=2), "tensor", 2, 0.0, 3 * US)
    made.add(Track("copies", 0), "global to shared, 64 bytes", 1, 0.0, 2 * US)
    made.add(Track("copies", 0), "global to shared, 32 bytes", 1, US, 3 * US)
    made.add(Track("copies", 0), "global to shared, 16 bytes", 1, 2 * US, 3 * US)
    made.add(Track("CTA", 0, 0, 7), "CTA 7", 0, 0.0, 4 * US)
    return made


def events(timeline, **different):
    text = trace_text([TracedKernel("k.ptx", timeline, made_up(**different), LINES)])
    return json.loads(text)["traceEvents"]


def rows(found):
    names = {(each["pid"], each["tid"]): each["args"]["name"] for each in found if each["name"] == "thread_name"}
    spans = {name: [] for name in names.values()}
    for each in found:
        if each["ph"] == "X":
            spans[names[each["pid"], each["tid"]]].append((each["name"], each["ts"], each["dur"]))
    return spans


def test_each_track_is_a_row_and_copies_that_overlap_have_rows_of_their_own(timeline):
    assert rows(events(timeline)) == {
        "tensor pipe 2": [("the tensor pipe", 0, 3)],
        "copies 0": [("global to shared, 64 bytes", 0, 2), ("global to shared, 16 bytes", 2, 1)],
        "copies 1": [("global to shared, 32 bytes", 1, 2)],
        "CTAs 0": [("CTA 7", 0, 4)],
        "CTA 7, warp 1": [("mbarriers", 0, 1)],
        "CTA 7, warp 0": [("results of earlier instructions", 1, 1)],
    }


def test_warps_stand_in_the_order_of_their_ctas_and_numbers(timeline):
    timeline.add(Track("warp", 0, 1, 3, 0), "issue", 1, 0.0, US)
    named = [name for name in rows(events(timeline)) if "warp" in name]
    assert named == [f"CTA {name}" for name in ("7 in place 0, warp 0", "7 in place 0, warp 1", "3 in place 1, warp 0")]


def test_times_are_those_of_the_clock_that_is_kept_up(timeline):
    spans = rows(events(timeline, clock_hz=1.755e9 / 2))
    assert spans["CTAs 0"] == [("CTA 7", 0, 8)]


def test_a_wait_has_the_line_that_waits(timeline):
    (wait,) = [each for each in events(timeline) if each.get("cat") == "wait" and each["name"] == "mbarriers"]
    assert wait["args"] == {"line": 3, "text": "@%p bra done;"}


def test_an_sm_is_a_process_and_a_second_kernel_has_others(timeline):
    both = [TracedKernel(name, timeline, made_up(), LINES) for name in ("a", "b")]
    found = json.loads(trace_text(both))
    names = {each["pid"]: each["args"]["name"] for each in found["traceEvents"] if each["name"] == "process_name"}
    assert names == {0: "a, SM 0", 1000: "b, SM 0"}
    assert found["otherData"]["b"]["seconds"] == pytest.approx(4.5e-6)


def test_clusters_that_are_replayed_several_times_are_told_apart(timeline):
    timeline.add(Track("CTA", 0, 1, 7), "CTA 7", 0, 4 * US, 5 * US)
    assert [name for name, _, _ in rows(events(timeline))["CTAs 0"]] == ["CTA 7 in place 0", "CTA 7 in place 1"]
