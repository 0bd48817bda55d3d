"""Copies of plain ranges: the sizes of `cp.async`, the rules of `cp.async.bulk`, and the CTAs of a multicast.

In: the operands of one instruction. Out: `Misuse` where the ISA leaves the result undefined.

Source: PTX ISA 9.1 §9.7.9.25.3.1 (cp.async), §9.7.9.25.4 (cp.async.bulk, cp.reduce.async.bulk).
"""

from ptxsim.machine.misuse import Misuse, require_aligned

#: The granularity in bytes of bulk copies: of their size and of both addresses.
BULK_ALIGNMENT = 16
#: The sizes in bytes that one `cp.async` copies.
SIZES = (4, 8, 16)

_CTA_MASK_BITS = 16


def require_bulk(destination: int, source: int, size: int) -> None:
    """Check the addresses and the size of a `cp{.reduce}.async.bulk`.

    Raises: Misuse ("misaligned") where one of them is not a multiple of 16.
    """
    require_aligned("destination", destination, BULK_ALIGNMENT)
    require_aligned("source", source, BULK_ALIGNMENT)
    if size % BULK_ALIGNMENT:
        raise Misuse("misaligned", f"size {size} of a bulk copy is not a multiple of {BULK_ALIGNMENT} bytes")


def multicast_ranks(cta_mask: int, cluster_size: int) -> tuple[int, ...]:
    """The ranks in the cluster of the CTAs that a multicast copies to, and whose mbarrier it signals.

    Data and signal go to the offsets, in each of those CTAs, of the addresses that the instruction names.
    Raises: Misuse ("out-of-bounds") where the mask names a CTA that the cluster does not have.
    """
    ranks = tuple(rank for rank in range(_CTA_MASK_BITS) if cta_mask >> rank & 1)
    if ranks and ranks[-1] >= cluster_size:
        message = f"ctaMask {cta_mask:#06x} names CTA {ranks[-1]} of a cluster of {cluster_size}"
        raise Misuse("out-of-bounds", message)
    return ranks
