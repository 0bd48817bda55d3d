"""Winograd's F(2 × 2, 3 × 3): tiles of 2 × 2 places of a convolution, by 16 products where there would be 36.

    Y = Aᵀ [(G g Gᵀ) ⊙ (Bᵀ d B)] A

g is a kernel of 3 × 3, d the tile of 4 × 4 elements of the image that 2 × 2 places read, and Y what these get. The sum
over channels is taken in brackets, for each of the 16 *points* by itself: there it is a product of matrices.

         1  0 -1  0          1   0   0
    Bᵀ = 0  1  1  0     G =  ½   ½   ½     Aᵀ = 1  1  1  0
         0 -1  1  0          ½  -½   ½          0  1 -1 -1
         0  1  0 -1          0   0   1

Source: Lavin, Gray, "Fast Algorithms for Convolutional Neural Networks".
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from tinyc.formulas.padding import stack
from tinyc.formulas.value import Value

#: Along an axis: the places of a tile, the taps of a kernel, and the points, as many as elements that a tile reads.
TILE_PLACES, KERNEL_TAPS, TILE_POINTS = 2, 3, 4

#: One of the matrices, as what it makes of the elements of a vector.
_Matrix: TypeAlias = Callable[[Sequence[Value]], list[Value]]


def tiled_image(image: Value, starts: Sequence[int], tiles: Sequence[int]) -> Value:
    """What `tiles` along the last two axes read: the image from `starts` on, with zeros where it has no elements."""
    for axis, start, count in zip((image.rank - 2, image.rank - 1), starts, tiles, strict=True):
        extent, end = image.shape[axis], start + TILE_PLACES * count + KERNEL_TAPS - 1
        assert isinstance(extent, int)  # the transforms are for sizes that are numbers
        image = image.slice(axis, max(start, 0), min(extent, end)).pad_axis(axis, max(-start, 0), max(end - extent, 0))
    return image


def image_points(image: Value) -> list[Value]:
    """Bᵀ d B of a `tiled_image` `[…, rows, columns]`: for each point, row by row, `[…, tiles, tiles]`."""

    def element(row: int, column: int) -> Value:
        found = image
        for axis, first in ((image.rank - 2, row), (image.rank - 1, column)):
            extent = image.shape[axis]
            found = found.slice(axis, first, extent - TILE_POINTS + first + 1, TILE_PLACES)
        return found

    elements = [[element(row, column) for column in range(TILE_POINTS)] for row in range(TILE_POINTS)]
    return _on_both_sides(_of_image, elements)


def kernel_points(kernels: Value) -> list[Value]:
    """G g Gᵀ of kernels `[…, 3, 3]`: for each point, row by row, `[…]`."""
    taps = range(KERNEL_TAPS)
    lead = kernels.shape[:-2]

    def tap(row: int, column: int) -> Value:
        at_row = kernels.slice(kernels.rank - 2, row, row + 1)
        return at_row.slice(kernels.rank - 1, column, column + 1).reshape(*lead)

    return _on_both_sides(_of_kernel, [[tap(row, column) for column in taps] for row in taps])


def places_of_points(points: Sequence[Value], rows: int, columns: int) -> Value:
    """Aᵀ m A of sums m, which are `[…, tiles, tiles]` for each point, as the places `[…, rows, columns]`."""
    in_rows = [points[first : first + TILE_POINTS] for first in range(0, len(points), TILE_POINTS)]
    flat = _on_both_sides(_of_sums, in_rows)
    *lead, tiles_down, tiles_across = flat[0].shape
    across = [stack(flat[first : first + TILE_PLACES], len(lead) + 2) for first in range(0, len(flat), TILE_PLACES)]
    both = stack(across, len(lead) + 1).reshape(*lead, TILE_PLACES * tiles_down, TILE_PLACES * tiles_across)
    return both.slice(len(lead), 0, rows).slice(len(lead) + 1, 0, columns)


def _on_both_sides(matrix: _Matrix, elements: Sequence[Sequence[Value]]) -> list[Value]:
    """M x Mᵀ of a matrix x, which is given and returned row by row."""
    columns = [matrix(column) for column in zip(*elements, strict=True)]
    return [each for row in zip(*columns, strict=True) for each in matrix(row)]


def _of_image(d: Sequence[Value]) -> list[Value]:
    """The products of Bᵀ and a vector."""
    return [d[0] - d[2], d[1] + d[2], d[2] - d[1], d[1] - d[3]]


def _of_kernel(g: Sequence[Value]) -> list[Value]:
    """The products of G and a vector; to halve a sum is exact."""
    outer = g[0] + g[2]
    return [g[0], (outer + g[1]) * 0.5, (outer - g[1]) * 0.5, g[2]]


def _of_sums(m: Sequence[Value]) -> list[Value]:
    """The products of Aᵀ and a vector."""
    return [m[0] + m[1] + m[2], m[1] - m[2] - m[3]]
