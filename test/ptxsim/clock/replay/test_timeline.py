"""The spans of a timeline: what goes on is one span."""

from ptxsim.clock.recording.trace import CopyStart, Depart
from ptxsim.clock.replay.timeline import Span, Timeline, Track
from ptxsim_cases.replays import Script, load_of, phase, replay_of

PIPE = Track("tensor", 0, unit=0)


def test_spans_that_follow_each_other_are_one():
    timeline = Timeline()
    for start in (0.0, 8.0, 16.0, 40.0):
        timeline.add(PIPE, "tensor", 3, start, start + 8)
    assert timeline.spans[PIPE] == [Span("tensor", 3, 0.0, 24.0), Span("tensor", 3, 40.0, 48.0)]


def test_what_has_another_name_or_line_or_no_length_is_not_joined():
    timeline = Timeline()
    timeline.add(PIPE, "tensor", 3, 0.0, 8.0)
    timeline.add(PIPE, "tensor", 4, 8.0, 9.0)
    timeline.add(PIPE, "tensor", 4, 9.0, 9.0)
    assert [each.line for each in timeline.spans[PIPE]] == [3, 4]


def test_a_replay_tells_waits_copies_products_and_ctas():
    timeline = Timeline()
    script = Script().add("UTMALDG.2D [UR4], [UR8]", CopyStart(0, 0))
    script.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R2], R3", Depart(0, phase(0)), line=5)
    script.add("HGMMA.64x256x16.F32.BF16 R24, gdesc[UR8], R24, gsb0").add("WARPGROUP.DEPBAR.LE gsb0, 0x0", line=9)
    replayed = replay_of(script, copies=[load_of(1024, phase(0))], timeline=timeline)
    spans = {track.kind: each for track, each in timeline.spans.items()}
    assert spans.keys() == {"warp", "copies", "tensor", "CTA"}
    assert [(each.name, each.line) for each in spans["warp"]] == [("mbarrier", 5), ("product", 9)]
    assert spans["copies"][0].name == "global to shared, 1024 bytes"
    assert spans["tensor"][0].end - spans["tensor"][0].start == 128
    assert spans["CTA"] == [Span("CTA 0", 0, 0.0, replayed.cycles)]
