"""A region that becomes a kernel of the template, and what its plan has decided about it.

In: a region with its complete plan. Out: `Parts`, which all that write its statements ask.
"""

import dataclasses
import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from tinyc.analysis.candidate import MatrixProduct
from tinyc.analysis.kernel_candidate import contraction_of
from tinyc.analysis.kernel_loops import KernelLoops, kernel_loops
from tinyc.analysis.patterns.contraction import Contraction
from tinyc.analysis.product_accesses import residual_accesses
from tinyc.analysis.strided_access import StridedAccess
from tinyc.dialects.gpu.dialect import GpuTile, smem_type
from tinyc.dialects.region.kernel_body import needed_for
from tinyc.dialects.region.to_gpu.function import Origin
from tinyc.expr import extents
from tinyc.expr.extents import Dim
from tinyc.mlir import ir
from tinyc.schemes.mma.case import mma_case
from tinyc.schemes.mma.loads import Load, Needs, loading_of, tile_loads
from tinyc.schemes.mma.matrix_unit import MatrixUnit
from tinyc.schemes.mma.orientation import oriented
from tinyc.schemes.mma.registers import pieces_at_a_time
from tinyc.schemes.mma.shared_memory import held_elements, staged_residuals
from tinyc.schemes.mma.stores import WIDEST_STORE_BYTES, Store, line_bytes, store_of
from tinyc.schemes.mma.tiling import MmaTiling, tiling_of, workspaces_of
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

_Value = TypeVar("_Value")
#: Positions of axes.
Axes: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Parts:
    """A region that becomes a kernel of the template, and what its plan has decided.

    Where it `is_transposed`, product and tiling are those of the transposed operands, and what the plan calls n is m
    here. `workspaces` are those of slices of k; `pieces` how many the epilogue finishes at a time (`pieces_at_a_time`).
    """

    origin: Origin
    is_transposed: bool
    product: MatrixProduct
    kernel_loops: KernelLoops
    contraction: Contraction
    unit: MatrixUnit
    tiling: MmaTiling
    loads: tuple[Load, Load]
    workspaces: Mapping[str, TensorType]
    pieces: int
    is_guarded: bool = True

    @classmethod
    def of(cls, origin: Origin, guarded: bool = True) -> "Parts":
        """The parts of a region whose plan is complete; without `guarded` its loads need nothing of the sizes."""
        loops = kernel_loops(origin.kernel.op)
        contraction = contraction_of(origin.kernel, loops)
        assert not isinstance(contraction, str)  # the candidate has a product
        assert not isinstance(loops, str)
        case = mma_case(origin.candidate, origin.target, origin.plan.precision or "ieee")
        assert not isinstance(case, str)  # the scheme has accepted it
        unit, loading = case.unit, dataclasses.replace(loading_of(origin.plan), guarded=guarded)
        tiling, case, is_transposed = oriented(tiling_of(origin.plan, unit.threads), case)
        product = case.product
        loads = tile_loads(tiling, loading.transposed if is_transposed else loading, product, unit)
        workspaces = workspaces_of(product, [tiling], dict(origin.candidate.limits))
        pieces = pieces_at_a_time(tiling, case, loads, guarded)
        return cls(origin, is_transposed, product, loops, contraction, unit, tiling, loads, workspaces, pieces, guarded)

    @property
    def is_specialised(self) -> bool:
        """Whether one warpgroup loads, by TMA, what others multiply."""
        return self.tiling.is_persistent and all(load.kind == "tma" for load in self.loads)

    @property
    def rows_along_x(self) -> bool | None:
        """Whether CTAs beside each other along x have tiles below each other; None: they walk over all tiles.

        Then one index of CTAs is for m and n, which are fused.
        """
        bound = filled(self.origin.plan.bind)
        return bound[f"{self._axis('m')}.o"] == "block.x" if "m.o" in bound else None

    @property
    def grid(self) -> tuple[Dim, Dim, Dim]:
        """The CTAs along x, y and z."""
        return self.tiling.grid(self.product, self.origin.target.sms, self.rows_along_x)

    def _axis(self, name: str) -> str:
        """What the plan calls an axis of the product."""
        return {"m": "n", "n": "m"}.get(name, name) if self.is_transposed else name

    @property
    def factors(self) -> tuple[ir.Value, ir.Value]:
        """What is multiplied, the left operand first."""
        left, right = self.contraction.multiply.operands
        return (right, left) if self.is_transposed else (left, right)

    @property
    def factor_axes(self) -> tuple[Axes, Axes, Axes]:
        """The axes that are m, n and k of what is multiplied."""
        roles = self.contraction.axis_roles
        return (roles.n, roles.m, roles.k) if self.is_transposed else (roles.m, roles.n, roles.k)

    @property
    def result_sides(self) -> tuple[Axes, Axes, Axes]:
        """The axes of the sums that are rows, columns and batch."""
        rows, columns, batch = self.contraction.result_sides
        return (columns, rows, batch) if self.is_transposed else (rows, columns, batch)

    @functools.cached_property
    def stores(self) -> tuple[Store, ...]:
        """How each output is stored: of the widest elements as many at a time as the plan says, and lines have."""
        accesses = self.product.stored  # others are refused
        widest = max(each.element.size_bytes for each in accesses)
        asked = min(WIDEST_STORE_BYTES, filled(self.origin.plan.vectorize)["width"] * widest)
        by_tma = self.is_specialised and self.tiling.finishes
        return tuple(
            store_of(each, by_tma, self.is_guarded, math.gcd(asked, line_bytes(each, self.tiling.unit_tile)))
            for each in accesses
        )

    @functools.cached_property
    def residuals(self) -> dict[ir.Value, tuple[StridedAccess, Needs]]:
        """What the epilogue reads beside each accumulator and is brought to shared memory, with what that needs."""
        if self.tiling.is_persistent and not self.is_specialised:
            return {}
        found = residual_accesses(self.origin.kernel, self.kernel_loops, self.contraction)
        if self.is_transposed:
            found = {value: access.transposed for value, access in found.items()}
        held = held_elements(self.loads, self.unit)
        needs = staged_residuals(self.tiling, [*found.values()], self.product.stored, held, self.is_guarded)
        return {value: (access, needs[at]) for at, (value, access) in enumerate(found.items()) if at in needs}

    def residuals_of(self, number: int) -> list[ir.Value]:
        """Those that the epilogue of an output reads."""
        kernel, reduced = self.origin.kernel, self.contraction.reduce.results[0]
        needed = needed_for(kernel, [kernel.yields[number].value], given=[reduced])
        return [value for value in self.residuals if value.owner in needed]

    @functools.cached_property
    def needs(self) -> Needs:
        """What has to be a multiple, of an extent, for this kernel to be launched."""
        slots = [slot.needs for slot in (*self.loads, *self.stores)] + [needs for _, needs in self.residuals.values()]
        found: dict[Dim, int] = {}
        for extent, multiple in (need for needs in slots for need in needs):
            found[extent] = math.lcm(found.get(extent, 1), multiple)
        return tuple(found.items())

    @functools.cached_property
    def counts(self) -> tuple[Dim, Dim]:
        """Tiles along m and n."""
        return self.tiling.tiles_of(self.product)

    @functools.cached_property
    def steps(self) -> Dim:
        """Tiles along k of each slice of it; the last slices may reach beyond k."""
        return extents.ceildiv(extents.ceildiv(self.product.k, self.tiling.tile[2]), self.tiling.slices)

    @property
    def makes_fragments(self) -> bool:
        """Whether warpgroups make A in their registers of what its tiles have."""
        return self.loads[0].source is not None

    def copied_access(self, side: int) -> StridedAccess:
        """Where the elements are that are copied for operand 0 or 1, as they lie."""
        operand = (self.product.lhs, self.product.rhs)[side]
        access = operand.access if self.loads[side].source is None else operand.source
        assert isinstance(access, StridedAccess)  # else its load is through registers
        return access

    def circular_buffer(self, side: int) -> ir.Type:
        """The tiles of operand 0 or 1 in shared memory."""
        load, (bm, bn, bk) = self.loads[side], self.tiling.tile
        tile = GpuTile(load.element(self.unit), *((bm, bk), (bk, bn))[side])
        return smem_type(tile, self.tiling.stages, load.order, load.swizzle)

    def guarded(self, always: tuple[str, ...] = (), **axes: str) -> ir.ArrayAttr:
        """The sides, as `rows="m"`, along whose axis the plan says that a tile may reach beyond the product."""
        tails = (*map(self._axis, filled(self.origin.plan.predicate_tail)), *always)
        return ir.ArrayAttr.get([ir.StringAttr.get(side) for side, axis in axes.items() if axis in tails])

    def element_of(self, number: int) -> ElementType:
        """The element type of an output."""
        return tensor_type(self.origin.kernel.yields[number].value.type).element


def filled(value: _Value | None) -> _Value:
    """A field that every complete plan of the scheme has."""
    assert value is not None
    return value
