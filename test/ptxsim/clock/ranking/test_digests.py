"""Digests: what is the same has one digest, and everything that changes an estimate changes it."""

from dataclasses import replace

import numpy as np
import pytest

from ptxsim import TensorMap
from ptxsim.clock.devices import Figure, device_of
from ptxsim.clock.kernel_launch import KernelLaunch
from ptxsim.clock.ranking import digests
from ptxsim.clock.ranking.digests import LaunchDigests

VERSIONS = "SASS of ptxas 13.0.88 by nvdisasm 13.0.85"
H100 = device_of("h100")


def launch_of(*args, **changed):
    launch = KernelLaunch("text", "k", (4, 1, 1), (32, 1, 1), args or (np.zeros((8, 64), np.float16), np.int32(3)))
    return replace(launch, **changed)


def digest_of(launch, device=H100, versions=VERSIONS):
    return LaunchDigests(device, versions).digest(launch)


def mapped(array, box=8):
    return TensorMap.tiled(2, array, [64, 8], [128], [64, box], [1, 1])


def test_launches_of_the_same_content_have_one_digest():
    assert digest_of(launch_of()) == digest_of(launch_of())
    one, two = (np.arange(512, dtype=np.float16).reshape(8, 64) for _ in range(2))
    assert digest_of(launch_of(mapped(one), one)) == digest_of(launch_of(mapped(two), two))


@pytest.mark.parametrize(
    "other",
    [
        launch_of(ptx="another text"),
        launch_of(kernel="l"),
        launch_of(grid=(2, 2, 1)),
        launch_of(block=(64, 1, 1)),
        launch_of(cluster=(2, 1, 1)),
        launch_of(dynamic_shared_bytes=16),
        launch_of(np.zeros((8, 64), np.float16), np.int32(4)),
        launch_of(np.zeros((8, 64), np.float16), np.uint32(3)),
        launch_of(np.zeros((8, 32), np.float16), np.int32(3)),
        launch_of(np.zeros((8, 64), np.int16), np.int32(3)),
        launch_of(np.ones((8, 64), np.float16), np.int32(3)),
        launch_of(mapped(np.zeros((8, 64), np.float16)), np.int32(3)),
    ],
)
def test_a_launch_that_differs_has_another_digest(other):
    assert digest_of(other) != digest_of(launch_of())


def test_boxes_and_whether_arrays_are_one_tell_launches_apart():
    one, two = np.zeros((8, 64), np.float16), np.zeros((8, 64), np.float16)
    found = {digest_of(launch_of(*args)) for args in ([mapped(one), one], [mapped(one, 4), one], [mapped(one), two])}
    assert len(found) == 3


def test_the_device_the_programs_and_the_source_tell_estimates_apart(monkeypatch):
    launch = launch_of()
    faster = replace(H100, sms=Figure(200, "SMs", "assumed", "a test"))
    digest = {
        digest_of(launch),
        digest_of(launch, device_of("h200")),
        digest_of(launch, faster),
        digest_of(launch, versions="SASS of ptxas 13.1.0 by nvdisasm 13.0.85"),
        digest_of(launch, versions="class weights"),
    }
    monkeypatch.setattr(digests, "source_digest", lambda: "changed")
    assert len(digest | {digest_of(launch)}) == 6
