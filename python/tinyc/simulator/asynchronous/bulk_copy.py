"""Copies of plain ranges: the rules of `cp.async` and `cp.async.bulk`, and the CTAs of a multicast.

In: the operands of one instruction. Out: what is copied, or `Misuse` where the ISA leaves the result undefined.

Source: PTX ISA 9.1 §9.7.9.25.3.1 (cp.async), §9.7.9.25.4 (cp.async.bulk, cp.reduce.async.bulk).
"""

from typing import NamedTuple

from tinyc.simulator.asynchronous.misuse import Misuse, require_aligned

#: The granularity in bytes of bulk copies: of their size and of both addresses.
BULK_ALIGNMENT = 16
#: The sizes in bytes that one `cp.async` copies.
SIZES = (4, 8, 16)

_CTA_MASK_BITS = 16


class Copy(NamedTuple):
    """What one thread's `cp.async` does: so many bytes from the source, so many bytes of zero behind them."""

    copied: int
    zeros: int


def bulk_bytes(destination: int, source: int, size: int) -> int:
    """Return the bytes that a `cp{.reduce}.async.bulk` moves and counts on its mbarrier: its size.

    Raises: Misuse ("misaligned") where the size or an address is not a multiple of 16.
    """
    require_aligned("destination", destination, BULK_ALIGNMENT)
    require_aligned("source", source, BULK_ALIGNMENT)
    if size % BULK_ALIGNMENT:
        raise Misuse("misaligned", f"size {size} of a bulk copy is not a multiple of {BULK_ALIGNMENT} bytes")
    return size


def asynchronous_copy(
    destination: int, source: int, size: int, source_size: int | None = None, ignore_source: bool = False
) -> Copy:
    """Return what one thread's `cp.async` copies and fills; nothing is read where nothing is copied.

    `size` (cp-size) is one of `SIZES`; `source_size` (src-size) and `ignore_source` (ignore-src) as in the instruction.
    Raises: Misuse where an address is not a multiple of `size`, or where more is to be read than written.
    """
    require_aligned("destination", destination, size)
    require_aligned("source", source, size)
    if source_size is not None and source_size > size:
        raise Misuse("out-of-bounds", f"src-size {source_size} of cp.async is larger than its cp-size {size}")
    copied = 0 if ignore_source else size if source_size is None else source_size
    return Copy(copied, size - copied)


def multicast_ranks(cta_mask: int, cluster_size: int) -> tuple[int, ...]:
    """Return the ranks in the cluster of the CTAs that a multicast copies to, and whose mbarrier it signals.

    Data and signal go to the offsets, in each of those CTAs, of the addresses that the instruction names.
    Raises: Misuse ("out-of-bounds") where the mask names a CTA that the cluster does not have.
    """
    ranks = tuple(rank for rank in range(_CTA_MASK_BITS) if cta_mask >> rank & 1)
    if ranks and ranks[-1] >= cluster_size:
        message = f"ctaMask {cta_mask:#06x} names CTA {ranks[-1]} of a cluster of {cluster_size}"
        raise Misuse("out-of-bounds", message)
    return ranks
