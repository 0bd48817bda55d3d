"""Copies of plain ranges: `cp.async`, `cp.async.bulk`, and the CTAs of a multicast."""

import pytest

from tinyc.simulator.asynchronous.bulk_copy import asynchronous_copy, bulk_bytes, multicast_ranks
from tinyc.simulator.asynchronous.misuse import Misuse


def test_a_bulk_copy_counts_its_size():
    assert bulk_bytes(0x100, 0x2010, 48) == 48


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
        bulk_bytes(*operands)
    assert raised.value.kind == "misaligned"


@pytest.mark.parametrize("size", [4, 8, 16])
def test_cp_async_copies_its_size(size):
    assert asynchronous_copy(size, 3 * size, size) == (size, 0)


# The bytes beyond src-size are zeros, and none are read where src-size is 0 or the source is ignored.
@pytest.mark.parametrize(("source_size", "expected"), [(0, (0, 16)), (5, (5, 11)), (16, (16, 0))])
def test_cp_async_fills_what_it_does_not_copy_with_zeros(source_size, expected):
    assert asynchronous_copy(0, 0, 16, source_size) == expected


def test_cp_async_may_ignore_its_source():
    assert asynchronous_copy(0, 0, 8, ignore_source=True) == (0, 8)


@pytest.mark.parametrize(
    ("operands", "kind", "message"),
    [
        ((8, 0, 16), "misaligned", "destination address 0x8 is not a multiple of 16 bytes"),
        ((0, 4, 8), "misaligned", "source address 0x4 is not a multiple of 8 bytes"),
        ((0, 0, 8, 12), "out-of-bounds", "src-size 12 of cp.async is larger than its cp-size 8"),
    ],
)
def test_cp_async_misuse_is_raised(operands, kind, message):
    with pytest.raises(Misuse, match=message) as raised:
        asynchronous_copy(*operands)
    assert raised.value.kind == kind


# Bit r of the mask is the CTA of rank r.
def test_a_multicast_goes_to_the_ctas_of_its_mask():
    assert multicast_ranks(0b1010_0001, 8) == (0, 5, 7)
    assert multicast_ranks(0, 4) == ()
    assert multicast_ranks(0xFFFF, 16) == tuple(range(16))


def test_a_multicast_beyond_the_cluster_is_misuse():
    with pytest.raises(Misuse, match="ctaMask 0x0014 names CTA 4 of a cluster of 4"):
        multicast_ranks(0b10100, 4)
