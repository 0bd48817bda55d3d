"""`tgpu.epilogue_slab` and the matrix product that it finishes, element by element, whatever writes the tiles then."""

from tinyc.dialects.cuda.main.reference import epilogue
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import EpilogueSlabOp


def compute(elements: FlatElements, op: EpilogueSlabOp) -> None:
    """Compute each element of the output, at the first slab of columns: the others are for the same output.

    Raises:
        TinycError: `InvalidIr`: the accumulator has not one product, or an operand not one source.
    """
    first, _ = op.slab
    if first == 0:
        epilogue.compute(elements, op)
