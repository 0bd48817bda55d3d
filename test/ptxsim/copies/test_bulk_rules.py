"""Copies of plain ranges: `cp.async.bulk`, and the CTAs of a multicast."""

import pytest

from ptxsim.copies.bulk_rules import multicast_ranks, require_bulk
from ptxsim.machine.misuse import Misuse


@pytest.mark.parametrize(
    ("operands", "message"),
    [
        ((0x108, 0x2000, 16), "destination address 0x108 is not a multiple of 16 bytes"),
        ((0x100, 0x2004, 16), "source address 0x2004 is not a multiple of 16 bytes"),
        ((0x100, 0x2000, 24), "size 24 of a bulk copy is not a multiple of 16 bytes"),
    ],
)
def test_a_bulk_copy_is_a_multiple_of_16_bytes_in_everything(operands, message):
    with pytest.raises(Misuse, match=message) as raised:
        require_bulk(*operands)
    assert raised.value.kind == "misaligned"


# Bit r of the mask is the CTA of rank r.
def test_a_multicast_goes_to_the_ctas_of_its_mask():
    assert multicast_ranks(0b1010_0001, 8) == (0, 5, 7)
    assert multicast_ranks(0, 4) == ()
    assert multicast_ranks(0xFFFF, 16) == tuple(range(16))


def test_a_multicast_beyond_the_cluster_is_misuse():
    with pytest.raises(Misuse, match="ctaMask 0x0014 names CTA 4 of a cluster of 4"):
        multicast_ranks(0b10100, 4)
