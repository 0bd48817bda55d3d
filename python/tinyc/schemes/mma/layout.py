"""What is known of a kernel of specialised warpgroups before its statements: its tensor maps, and tiles."""

import functools
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

from tinyc.analysis.strided_access import StridedAccess
from tinyc.dialects.gpu.dialect import GpuTile, staged_tile
from tinyc.dialects.region.to_gpu.function import Frame
from tinyc.mlir import ir
from tinyc.schemes.mma.loads import order_of
from tinyc.schemes.mma.maps import MatrixMap, map_of
from tinyc.schemes.mma.parts import Parts
from tinyc.schemes.mma.shared_memory import SLAB_BUFFERS, slab_columns
from tinyc.schemes.mma.writer import result_type
from tinyc.vocabulary.attributes import tensor_type

#: What a tensor map is for: an operand, an output, what is read beside one; its number, and the value that is read.
_MapKey: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True)
class KernelLayout:
    """What is known of a kernel before its statements."""

    parts: Parts

    @functools.cached_property
    def ctas(self) -> int:
        """CTAs of a cluster."""
        return math.prod(self.parts.tiling.cluster)

    def multicast(self, side: int) -> int:
        """How many CTAs share the loads of operand 0 or 1: those that lie along the other axis."""
        return self.parts.tiling.cluster[1 - side]

    @functools.cached_property
    def maps(self) -> dict[_MapKey, MatrixMap]:
        """The maps of the operands, then for each output of what is read beside the accumulators, and its own."""
        parts = self.parts
        found: dict[_MapKey, MatrixMap] = {}
        for side in (0, 1):
            layout = staged_tile(parts.circular_buffer(side)).layout
            found["operand", side] = map_of(parts.copied_access(side), layout, self.multicast(side))
        for number, (store, access) in enumerate(zip(parts.stores, parts.product.results, strict=True)):
            for value in parts.residuals_of(number):
                read, layout = parts.residuals[value][0], staged_tile(self.slab_type(number, value)).layout
                found["residual", number, value] = map_of(read, layout)
            if store.kind == "tma" and isinstance(access, StridedAccess):
                found["output", number] = map_of(access, staged_tile(self.slab_type(number)).layout)
        return found

    def slab_columns(self, number: int) -> int:
        """Columns of what is stored of an output at a time."""
        return slab_columns(self.parts.tiling, self.parts.element_of(number).size_bytes)

    def slab_type(self, number: int, residual: ir.Value | None = None) -> ir.Type:
        """The tiles of an output's slabs, or of a residual's: some for each warpgroup that multiplies."""
        width = self.slab_columns(number)
        element, order = self.parts.element_of(number), self.parts.stores[number].order
        if residual is not None:
            element, order = tensor_type(residual.type).element, order_of(self.parts.residuals[residual][0])
        tile = GpuTile(element, self.parts.tiling.unit_tile[0], width)
        return result_type(tile, SLAB_BUFFERS * self.parts.tiling.consumers, order)

    def map_in(self, frame: Frame, *key: Any) -> tuple[MatrixMap, ir.Value]:
        """A map, and the argument that it is of the kernel's function."""
        return self.maps[key], frame.maps[list(self.maps).index(key)]
