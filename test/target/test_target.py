"""The hardware numbers of the targets: names, and the relations that hold among them on any GPU."""

import pytest

from tinyc.diagnostics import TinycError
from tinyc.target import TARGETS, target_of


@pytest.mark.parametrize(
    ("name", "chip"), [("sm_80", "sm_80"), ("sm80", "sm_80"), ("sm_90a", "sm_90a"), ("sm90", "sm_90a")]
)
def test_a_target_has_two_names(name, chip):
    assert target_of(name).chip == chip


def test_an_unknown_target_is_refused_with_those_that_there_are():
    with pytest.raises(TinycError, match="'arch' is 'sm_75', no GPU architecture; choose sm_80 or sm_90a") as caught:
        target_of("sm_75")
    assert caught.value.name == "UnsupportedTarget"


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_the_limits_of_a_block_are_within_those_of_a_multiprocessor(target):
    assert target.threads_per_cta <= target.threads_per_sm == 2048
    assert target.registers_per_cta <= target.registers_per_sm
    assert target.shared_bytes_per_cta_static < target.shared_bytes_per_cta_optin
    assert target.shared_bytes_per_cta_optin + target.shared_bytes_per_cta_reserved == target.shared_bytes_per_sm


@pytest.mark.parametrize(("name", "kib"), [("sm_80", 163), ("sm_90a", 227)])
def test_the_shared_memory_that_a_block_may_opt_in_to(name, kib):
    assert target_of(name).shared_bytes_per_cta_optin == kib * 1024


@pytest.mark.parametrize(
    ("name", "fma_per_cycle", "hertz"),
    [("sm_80", 64, 1.41e9), ("sm_90a", 128, 1.98e9)],
)
def test_the_peak_in_f32_is_what_the_cores_do_at_boost_clock(name, fma_per_cycle, hertz):
    target = target_of(name)
    assert target.f32_flops_per_second == pytest.approx(target.sms * fma_per_cycle * 2 * hertz, rel=0.01)
