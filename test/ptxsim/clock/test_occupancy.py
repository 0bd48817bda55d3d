"""How many CTAs an SM holds, computed by hand for each resource that may end first."""

import pytest

from ptxsim.clock.devices import device_of
from ptxsim.clock.occupancy import Occupancy, occupancy_of
from ptxsim.errors import InputError

A100, H100 = device_of("a100"), device_of("h100")


@pytest.mark.parametrize(
    ("device", "threads", "registers", "shared_bytes", "expected"),
    [
        (H100, 256, 32, 0, Occupancy(8, "warps")),  # 64 warps, 8 each
        (H100, 32, 16, 0, Occupancy(32, "CTAs")),
        (A100, 256, 128, 0, Occupancy(2, "registers")),  # 32768 of 65536 each
        (A100, 128, 33, 0, Occupancy(12, "registers")),  # 33 × 32 in units of 256 are 1280 of a warp, 5120 of a CTA
        (A100, 128, 32, 48 * 1024, Occupancy(3, "shared memory")),  # 49 KB of 164 with the reserved one
        (A100, 128, 32, 54 * 1024, Occupancy(2, "shared memory")),  # 3 × 55 are one too many
        (H100, 384, 168, 3 * 48 * 1024, Occupancy(1, "registers")),
        (H100, 100, 32, 0, Occupancy(16, "warps")),  # a warp that is not full counts
    ],
)
def test_the_resource_that_ends_first_limits(device, threads, registers, shared_bytes, expected):
    assert occupancy_of(device, threads, registers, shared_bytes) == expected


def test_a_cta_that_fits_no_sm_is_an_error_that_says_what_is_too_much():
    with pytest.raises(InputError, match=r"200000 bytes .* does not fit on an SM of A100 .* its shared memory"):
        occupancy_of(A100, 128, 32, 200_000)
    with pytest.raises(InputError, match="its registers"):
        occupancy_of(H100, 1024, 128, 0)
