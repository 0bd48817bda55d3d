"""Scheme `scan`: a cumulative reduction, with element-wise ops around it, each row by several threads.

A part of a warp, a warp or a CTA goes along a row, by its length, and knows by an exchange what is before each thread;
or rows lie beside each other, and a thread walks down some of them. Each element is read once.

`plan` has what it accepts and the shape of its CTAs, `build` writes its kernels.
"""

from typing import TYPE_CHECKING

from tinyc.analysis.candidate import Candidate
from tinyc.schemes.neighbours import access_bytes, loops_of, shared_by_ctas
from tinyc.schemes.rows import RowScheme, row_elements, row_width, shared_by_rows
from tinyc.schemes.scan.plan import scan_refusal, scan_shape
from tinyc.schemes.scheme import Acceptance, Refusal, Resources
from tinyc.target.target import Target

if TYPE_CHECKING:
    from tinyc.dialects.region.to_gpu.function import Origin


class CumulativeScan(RowScheme):
    """Kernels around one cumulative reduction."""

    name = "scan"

    def accepts(self, candidate: Candidate, target: Target) -> Acceptance | Refusal:
        """Kernels whose one reduction is a scan, and whose results go along with it."""
        reason = scan_refusal(candidate)
        if reason is not None:
            return Refusal("PlanMismatch", reason)
        width = row_width(candidate)
        shape = scan_shape(candidate, width)
        grid = shared_by_ctas(loops_of(candidate).steps, shape.rows_per_cta, target)
        wide = access_bytes(candidate, row_elements(candidate), width)
        shared_bytes = sum(each.bytes for each in shared_by_rows(candidate, shape))
        resources = Resources(grid, shape.cta[0] * shape.cta[1], shared_bytes, vector_bytes=wide)
        return Acceptance("it is a cumulative reduction", resources)

    def build(self, origin: "Origin") -> None:
        """Write one function."""
        from tinyc.schemes.scan.build import build_scan  # MLIR: when a kernel is built

        build_scan(origin)
