"""The grid of scheme `generic`: a thread for each element that the threads share, 256 a CTA."""

from tinyc.analysis.candidate import Candidate
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.target.target import Target

THREADS_PER_CTA = 256


def shared_shapes(candidate: Candidate) -> tuple[tuple[Dim, ...], ...]:
    """The shapes whose elements the threads share in the kernel's one statement."""
    if candidate.scatter is not None:
        updates = candidate.scatter.extents
        return (updates,) if candidate.scatter.adds else (*candidate.outputs, updates)
    return candidate.outputs if candidate.top_k is None else (candidate.top_k,)


def generic_grid(shapes: tuple[tuple[Dim, ...], ...], target: Target) -> tuple[Dim, Dim, Dim]:
    """The CTAs that have a thread for each element of `shapes`, as far as a grid has room for them.

    A symbolic count is checked at each launch.

    Raises:
        ExtentError: their number is not a representable extent.
    """
    total: Dim = 0
    for shape in shapes:
        total = total + extents.product(shape)
    ctas = extents.ceildiv(total, THREADS_PER_CTA)
    return (min(ctas, target.ctas_per_grid_x) if isinstance(ctas, int) else ctas, 1, 1)
