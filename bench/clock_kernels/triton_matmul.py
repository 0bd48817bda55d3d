"""Products by Triton 3.6, in the configurations of its tutorial 03, on an H100 or an A100.

`matmul_in_triton.py` beside this file makes their PTX and says what each takes, in the folder triton of the checkouts.
Nobody has published the speed of each: they are predicted, to be compared with.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ptxsim.clock.kernel_launch import KernelLaunch

ENTRY = "product"


@dataclass(frozen=True)
class TritonProduct:
    """A configuration, with the PTX of its kernel."""

    name: str
    ptx: str
    tile: tuple[int, int, int]
    warps: int
    stages: int
    shared_bytes: int

    def launch(self, m: int, n: int, k: int) -> KernelLaunch:
        """The launch of a product of row-major f16 matrices."""
        a, b, c = (np.zeros(shape, np.float16) for shape in ((m, k), (k, n), (m, n)))
        sizes = [np.int32(each) for each in (m, n, k, k, n, n)]
        nothing, scratch = [np.uint64(0), np.uint64(0)], [np.uint64(0), np.uint64(0)]
        grid = (-(-m // self.tile[0]) * -(-n // self.tile[1]), 1, 1)
        block = (32 * self.warps, 1, 1)
        return KernelLaunch(self.ptx, ENTRY, grid, block, [a, b, *nothing, c, *sizes, *scratch], self.shared_bytes)


def triton_products(kernels: Path, arch: str) -> list[TritonProduct]:
    """The configurations that there are for an architecture.

    Raises:
        FileNotFoundError: nobody has made them.
    """
    folder, capability = kernels / "triton", int(arch.removeprefix("sm_").rstrip("a"))
    return [
        TritonProduct(
            "Triton, {}x{}x{}, {} stages, {} warps".format(*each["tile"], each["stages"], each["warps"]),
            (folder / each["file"]).read_text(),
            tuple(each["tile"]),
            each["warps"],
            each["stages"],
            each["shared_bytes"],
        )
        for each in json.loads((folder / "matmul.json").read_text())
        if each["capability"] == capability
    ]
