"""Which way round a product is multiplied: A · B, or Bᵀ · Aᵀ, whose product is the transposed output.

A plan has m and n as the region does, and so do messages and tables; models and kernels have the rows of instructions
along m. Here the two change places.
"""

from dataclasses import dataclass

from tinyc.schemes.mma.case import MmaCase
from tinyc.schemes.mma.loads import fragment_source, is_copied
from tinyc.schemes.mma.matrix_unit import MatrixUnit
from tinyc.schemes.mma.tiling import MmaTiling


@dataclass(frozen=True)
class Orientation:
    """Which accumulators are computed as their transpose: all that may be, where it is preferred."""

    unit: MatrixUnit
    prefers_transposed: bool

    def transposes(self, rows: int, columns: int) -> bool:
        """Whether accumulators of so many rows and columns are computed as their transpose.

        Those of few rows, such as 8x64, have their columns along the instruction's rows, of which it has more.
        """
        return self.unit.admits(columns, rows) and (self.prefers_transposed or not self.unit.admits(rows, columns))


def orientation_of(case: MmaCase) -> Orientation:
    """That of a case: warpgroups take both operands from shared memory, and make the left one in registers, too.

    So an operand that cannot be multiplied as it lies is better on the left: one that is cast, or whose k is not
    contiguous where tensor cores do not transpose.
    """
    unit, product, transposed = case.unit, case.product, case.transposed.product
    prefers = (
        unit.is_wgmma
        and not is_copied(product.rhs, "col", unit)
        and is_copied(transposed.rhs, "col", unit)
        and fragment_source(transposed.lhs, unit) is not None
    )
    return Orientation(unit, prefers)


def oriented(tiling: MmaTiling, case: MmaCase) -> tuple[MmaTiling, MmaCase, bool]:
    """A plan's tiling and its case as they are multiplied: both transposed, as the third one says, or as they are."""
    if orientation_of(case).transposes(*tiling.unit_tile):
        return tiling.transposed, case.transposed, True
    return tiling, case, False
