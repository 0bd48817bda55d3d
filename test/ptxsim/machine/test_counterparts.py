"""The other side of a finding: its line, its source where the PTX says it, and its thread, in text and in JSON."""

import json
from pathlib import Path

import numpy as np
import pytest

from ptxsim import Thread
from ptxsim.__main__ import main
from ptxsim_cases.kernel_text import kernel, launch

EXAMPLE = Path(__file__).parents[3] / "examples/simulator/transpose.ptx"
TILE = ".shared .align 16 .b8 tile[1024];"
#: Every thread stores to the word that the next one stores to, too.
NEIGHBOURS = """
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 4, %r1;
st.shared.u32 [%r1], %r0;
bar.warp.sync 0xffffffff;
setp.ne.u32 %p0, %r0, 37; @%p0 ret;
ld.shared.u32 %r2, [%r1-120];
ret;
"""


def test_a_race_names_the_other_thread_and_its_line():
    text = kernel(NEIGHBOURS, "", TILE)
    (finding,) = launch(text, [], 64).findings
    (other,) = finding.others
    assert finding.threads == (Thread((0, 0, 0), (37, 0, 0)),)
    assert other.thread == Thread((0, 0, 0), (7, 0, 0))
    assert text.splitlines()[other.line - 1].startswith("st.shared")
    assert f"; the other: line {other.line} by thread (7, 0, 0) of CTA (0, 0, 0)" in str(finding)


@pytest.mark.parametrize(("cluster", "first"), [((1, 1, 1), (0, 0, 0)), ((2, 2, 1), (0, 0, 0))])
def test_the_other_thread_may_be_one_of_another_cta_of_a_grid_with_clusters(cluster, first):
    body = """
ld.param.u64 %d0, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mad.lo.u32 %r0, %r2, 4, %r1;
setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 7; or.pred %p0, %p0, %p1; @!%p0 ret;
st.global.u32 [%d0], %r0;
ret;
"""
    report = launch(kernel(body), [np.full(1, 9, np.uint32)], 1, grid=(4, 2, 1), cluster=cluster)
    (finding,) = report.findings
    assert {finding.threads[0].cta, finding.others[0].thread.cta} == {first, (3, 1, 0)}


def test_lanes_of_one_instruction_name_each_other():
    (finding,) = launch(kernel("mov.u32 %r0, %tid.x; st.shared.u32 [tile], %r0; ret;", "", TILE), [], 2).findings
    assert {finding.threads[0].thread, finding.others[0].thread.thread} == {(0, 0, 0), (1, 0, 0)}
    assert finding.others[0].line == finding.line


def test_a_copy_in_flight_names_the_thread_that_has_issued_it():
    body = """
ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 4, %r1;
cp.async.ca.shared.global [%r1], [%d0], 4;
setp.ne.u32 %p0, %r0, 3; @%p0 ret;
ld.shared.u32 %r2, [%r1+20];
ret;
"""
    findings = launch(kernel(body, module=TILE), [np.zeros(4, np.uint32)]).findings
    (finding,) = [each for each in findings if each.kind == "async-in-flight"]
    assert [each.thread.thread for each in finding.others] == [(8, 0, 0)]


def test_threads_at_different_barriers_name_each_other():
    body = "mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 32; @%p0 bra A;\nbar.sync 0; ret;\nA:\nbar.sync 0; ret;"
    finding = launch(kernel(body, ""), [], 64).findings[0]
    assert finding.kind == "barrier-divergence"
    assert {finding.threads[0].thread, finding.others[0].thread.thread} == {(0, 0, 0), (32, 0, 0)}
    assert abs(finding.others[0].line - finding.line) == 2


def test_a_finding_of_one_thread_has_no_other_side():
    (finding,) = launch(kernel("st.global.u32 [0], 1; ret;", ""), [], 1).findings
    assert finding.others == ()


def test_text_and_json_name_both_threads_and_both_source_lines(tmp_path, capsys):
    arguments = ["--grid", "1", "--block", "32,32", "--arg", "f32[32,32]:random", "--arg", "f32[32,32]:0"]
    assert main([str(EXAMPLE), *arguments, "--arg", "i32:32", "--json", str(tmp_path / "report.json")]) == 1
    text = capsys.readouterr().out
    assert "  source: transpose.cu:7:5\n" in text
    assert "  by thread (1, 0, 0) of CTA (0, 0, 0);" in text
    assert "  other: line 53 (transpose.cu:6:5) by thread (0, 1, 0) of CTA (0, 0, 0)\n    st.shared.f32" in text
    (finding,) = json.loads((tmp_path / "report.json").read_text())["findings"]
    assert finding["source"] == "transpose.cu:7:5"
    assert finding["threads"][0] == {"cta": [0, 0, 0], "thread": [1, 0, 0]}
    assert finding["others"] == [
        {
            "line": 53,
            "text": "st.shared.f32 [%r15], %f1;",
            "source": "transpose.cu:6:5",
            "thread": {"cta": [0, 0, 0], "thread": [0, 1, 0]},
        }
    ]
