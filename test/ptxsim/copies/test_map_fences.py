"""The fences that a tensor map takes which a kernel changes, and what is found where they lack."""

import numpy as np
import pytest

from ptxsim_cases.kernel_text import kernel, kinds, launch
from ptxsim_cases.map_kernels import (
    ACQUIRE,
    LOAD,
    MAP_PARAMETERS,
    MAP_VARIABLES,
    OTHER,
    PUBLISH,
    SETUP,
    distinct,
    replaced,
    run,
)
from ptxsim_cases.tensor_maps import tiled

_RELEASE = "@%p0 fence.proxy.tensormap::generic.release.gpu;\n"
_IN_GLOBAL = PUBLISH + replaced("global_address", "%d2", space="global")


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (PUBLISH + "@%p0 " + ACQUIRE, ""),
        (PUBLISH, "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE + ACQUIRE, ""),
        (_IN_GLOBAL + ACQUIRE, "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE, "proxy-fence-missing"),
        (_IN_GLOBAL + ACQUIRE + _RELEASE, "proxy-fence-missing"),
        (PUBLISH + _RELEASE + ACQUIRE + replaced("global_address", "%d2", space="global"), "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE + ACQUIRE.replace("[%d1]", "[%d2]"), "proxy-fence-missing"),
        # Another lane acquires, or releases what the first has written: only with a barrier between.
        (_IN_GLOBAL + _RELEASE + "bar.warp.sync -1; @!%p0 " + ACQUIRE + "bar.warp.sync -1;", ""),
        (_IN_GLOBAL + _RELEASE + "@!%p0 " + ACQUIRE + "bar.warp.sync -1;", "proxy-fence-missing"),
        (_IN_GLOBAL + _RELEASE + "bar.warp.sync -1; @!%p0 " + ACQUIRE, "proxy-fence-missing"),
        (_IN_GLOBAL + "bar.warp.sync -1;" + _RELEASE.replace("@", "@!") + "bar.warp.sync -1;" + ACQUIRE, ""),
        (_IN_GLOBAL + _RELEASE.replace("@", "@!") + "bar.warp.sync -1;" + ACQUIRE, "proxy-fence-missing"),
    ],
)
def test_a_changed_map_is_released_and_acquired_by_its_proxy(body: str, found: str):
    report, _ = run(body)
    assert kinds(report) == ({found} if found else set()), str(report)


def test_the_finding_names_both_sides_and_the_fences():
    report, _ = run(_IN_GLOBAL)
    (finding,) = report.findings
    assert "starts to read 128 bytes of global memory as a tensor map that a thread writes at line" in finding.message
    assert (
        "without fence.proxy.tensormap::generic.release there and .acquire of the map here between" in finding.message
    )
    assert finding.variable == "mine+0"
    assert [other.thread.thread for other in finding.others] == [(0, 0, 0)]


def test_a_map_from_before_the_launch_is_acquired():
    workspace = np.zeros(128, np.uint8)
    tensor, out = tiled(distinct(4, 8), (8, 4)), np.zeros((4, 8), np.float32)
    text = kernel(SETUP + "mov.u64 %d1, %d2;" + PUBLISH + "ret;", MAP_PARAMETERS, MAP_VARIABLES)
    assert launch(text, [tensor, workspace, out]).ok
    for fence, found in ((ACQUIRE, set()), ("", {"proxy-fence-missing"})):
        text = kernel(SETUP + "mov.u64 %d1, %d2;" + fence + LOAD + "ret;", MAP_PARAMETERS, MAP_VARIABLES)
        report = launch(text, [tensor, workspace, out], grid=(20, 1, 1))
        assert kinds(report) == found, str(report)
        assert (out == distinct(4, 8)).all()
    assert "since the launch began" in str(report)


#: CTA 0 writes the map and sets a flag, CTA 1 waits for it and loads.
_BETWEEN = """mov.u32 %r12, %ctaid.x; setp.ne.u32 %p3, %r12, 0; mov.u64 %d8, flag; @%p3 bra consumer;
{body} @%p0 st.release.gpu.global.u32 [%d8], 1; bra end;
consumer: spin: ld.acquire.gpu.global.u32 %r13, [%d8]; setp.eq.u32 %p4, %r13, 0; @%p4 bra spin; {acquire}
"""


@pytest.mark.parametrize(
    ("scope", "acquire", "found"),
    [
        ("gpu", ACQUIRE, set()),
        ("gpu", "", {"proxy-fence-missing"}),
        ("cta", ACQUIRE, {"proxy-fence-missing"}),
        ("gpu", ACQUIRE.replace("gpu", "cta"), {"proxy-fence-missing"}),
    ],
)
def test_another_cta_uses_the_map(scope: str, acquire: str, found: set[str]):
    body = _BETWEEN.format(body=OTHER + PUBLISH.replace("gpu", scope), acquire=acquire)
    report, out = run(body, LOAD + "end:", grid=(2, 1, 1))
    assert kinds(report) == found, str(report)
    assert (out == distinct(5, 12)[:4, :8]).all()


# The release of the proxy before a relaxed store, and its acquire behind a relaxed load, are what the flag takes.
def test_fences_of_the_proxy_order_as_fences_do():
    body = _BETWEEN.format(body=OTHER + PUBLISH, acquire=ACQUIRE).replace("release.gpu.global", "relaxed.gpu.global")
    report, _ = run(body.replace("acquire.gpu.global", "relaxed.gpu.global"), LOAD + "end:", grid=(2, 1, 1))
    assert report.ok, str(report)


def test_a_map_is_not_changed_while_a_copy_reads_it():
    change = replaced("rank", 1, space="global")
    early = LOAD.replace("wait_0:", change + "wait_0:")
    report, _ = run(PUBLISH + ACQUIRE, early)
    assert kinds(report) == {"async-in-flight"}, str(report)
    report, _ = run(PUBLISH + ACQUIRE, LOAD + change)
    assert report.ok, str(report)


def test_a_map_that_another_thread_writes_is_a_race():
    body = PUBLISH + "bar.sync 0; setp.eq.u32 %p5, %r0, 5; @%p5 tensormap.replace.tile.rank.global.b1024.b32 [%d1], 1;"
    report, _ = run(body + "@%p5 fence.proxy.tensormap::generic.release.gpu;" + ACQUIRE)
    assert kinds(report) == {"race"}, str(report)
    assert "starts to read 128 bytes of global memory that another thread writes" in str(report)
