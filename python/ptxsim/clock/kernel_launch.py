"""What is timed: a launch of a kernel of a PTX text."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from ptxsim.launch import Dim3


@dataclass(frozen=True)
class KernelLaunch:
    """A launch of a kernel of a PTX text: CTAs, threads, arguments as `Module.launch` has them, shared bytes."""

    ptx: str
    kernel: str
    grid: Dim3
    block: Dim3
    args: Sequence[object]
    dynamic_shared_bytes: int = 0
    cluster: Dim3 = (1, 1, 1)

    @property
    def clusters(self) -> int:
        """How many clusters its grid has."""
        return prod(self.across)

    @property
    def across(self) -> Dim3:
        """The clusters of its grid in x, y and z."""
        x, y, z = (extent // size for extent, size in zip(self.grid, self.cluster, strict=True))
        return x, y, z
