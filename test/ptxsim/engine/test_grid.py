"""Some clusters of a grid: which CTAs run, what the kernel sees, counters and findings, and what is refused."""

import re

import numpy as np
import pytest

from ptxsim.errors import InputError
from ptxsim_cases.kernel_text import kernel, kinds, launch

#: Each CTA stores %nctaid.x · 1000 + the number of its cluster + 1 at its own place: x fastest.
_OWN_PLACE = """ld.param.u64 %d0, [out];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z; mov.u32 %r4, %nctaid.x; mov.u32 %r5, %nctaid.y;
mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r4, %r1; mul.wide.u32 %d1, %r6, 4; add.u64 %d0, %d0, %d1;
mov.u32 %r1, %clusterid.x; mov.u32 %r2, %clusterid.y; mov.u32 %r3, %clusterid.z; mov.u32 %r7, %nclusterid.x;
mov.u32 %r5, %nclusterid.y; mad.lo.u32 %r6, %r3, %r5, %r2; mad.lo.u32 %r6, %r6, %r7, %r1;
mad.lo.u32 %r6, %r4, 1000, %r6; add.u32 %r6, %r6, 1; st.global.u32 [%d0], %r6; ret;
"""


def stored(grid: tuple[int, int, int], **options) -> np.ndarray:
    out = np.zeros(grid[::-1], np.uint32)
    report = launch(kernel(_OWN_PLACE), [out], grid=grid, **options)
    assert report.ok, str(report)
    return out


@pytest.mark.parametrize("cluster", [None, (2, 1, 1), (2, 3, 1), (1, 3, 2)])
@pytest.mark.parametrize("clusters", [(0,), (1, 3), (3, 0), range(4), np.array([2])])
def test_the_ctas_of_the_named_clusters_run_and_see_the_whole_grid(cluster, clusters):
    grid = (4, 3, 2)
    everything, some = stored(grid, cluster=cluster), stored(grid, cluster=cluster, clusters=clusters)
    chosen = np.isin(everything, [4000 + 1 + each for each in clusters])
    assert np.count_nonzero(chosen) == len(clusters) * np.prod(cluster or 1)
    assert (some == np.where(chosen, everything, 0)).all()


def test_the_last_cluster_of_the_largest_grid_runs_alone():
    body = "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.z; ld.param.u64 %d0, [out]; st.global.v2.u32 [%d0], {%r1, %r2};"
    out, grid = np.zeros(2, np.uint32), (2**31 - 1, 65535, 65535)
    report = launch(kernel(body + "ret;"), [out], 1, grid=grid, clusters=[grid[0] * grid[1] * grid[2] - 1])
    assert report.ok, str(report)
    assert out.tolist() == [grid[0] - 1, grid[2] - 1]


def test_counters_and_the_monitor_are_of_what_is_run():
    told = []
    options = {"grid": (8, 1, 1), "cluster": (2, 1, 1), "clusters": (1, 3)}
    report = launch(kernel("bar.sync 0; ret;", ""), [], 64, monitor=lambda *each: told.append(each), **options)
    assert report.counters.instructions == {"bar": 8, "ret": 8}
    assert report.counters.barriers == 4
    assert told[-1] == (4, 4, 16)


# CTA 1 waits for what CTA 0 stores; CTA 2 does neither.
_HANDED_OVER = """mov.u32 %r1, %ctaid.x; ld.param.u64 %d0, [out]; setp.eq.u32 %p0, %r1, 1; @%p0 bra spin;
setp.eq.u32 %p0, %r1, 2; @%p0 ret; mov.u32 %r2, 1; st.release.gpu.global.u32 [%d0], %r2; ret;
spin: ld.acquire.gpu.global.u32 %r2, [%d0]; setp.eq.u32 %p1, %r2, 0; @%p1 bra spin; ret;
"""


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (None, ""),
        ((0, 1), ""),
        ((1,), "; the launch runs 1 of the 3 clusters of its grid"),
        ((1, 2), "; the launch runs 2 of the 3 clusters of its grid"),
    ],
)
def test_a_deadlock_says_that_only_some_clusters_run(clusters, message):
    report = launch(kernel(_HANDED_OVER), [np.zeros(1, np.uint32)], 1, grid=(3, 1, 1), clusters=clusters)
    assert kinds(report) == ({"deadlock"} if message else set())
    assert all(finding.message.endswith(message) for finding in report.findings)


def test_a_deadlock_of_the_whole_grid_does_not():
    report = launch(kernel("spin: bra spin;", ""), [], 1, grid=(2, 1, 1), clusters=(0, 1))
    assert kinds(report) == {"deadlock"}
    assert "clusters" not in str(report)


def test_the_sides_of_a_race_are_named_by_their_places_in_the_grid():
    text = kernel("ld.param.u64 %d0, [out]; mov.u32 %r1, %ctaid.x; st.global.u32 [%d0], %r1; ret;")
    report = launch(text, [np.zeros(1, np.uint32)], 1, grid=(9, 1, 1), clusters=(2, 7))
    (finding,) = report.findings
    assert finding.kind == "race"
    assert [each.cta for each in finding.threads] == [(7, 0, 0)]
    assert [each.thread.cta for each in finding.others] == [(2, 0, 0)]


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ((), "clusters is (); give the numbers of the clusters to run, as in (0, 2)"),
        ((0, 1.0), "clusters is (0, 1.0); give the numbers"),
        ("last", "clusters is 'last'; give the numbers"),
        (1, "clusters is 1; give the numbers"),
        ((4,), "there is no cluster 4; the grid has 4, numbered from 0 to 3, x fastest"),
        ((0, -1), "there is no cluster -1; the grid has 4"),
        ((2, 0, 2), "cluster 2 is given 2 times in clusters; a cluster is run once"),
    ],
)
def test_numbers_that_name_no_cluster_are_errors(clusters, message):
    with pytest.raises(InputError, match=re.escape(message)):
        launch(kernel("ret;", ""), [], grid=(8, 1, 1), cluster=(2, 1, 1), clusters=clusters)
