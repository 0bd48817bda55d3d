"""`tgpu.epilogue_slab` and the matrix product that it finishes: CUDA text has no sequential form of it yet."""

from tinyc.diagnostics import TinycError
from tinyc.dialects.gpu.expand.flat_elements import FlatElements
from tinyc.dialects.gpu.statements import EpilogueSlabOp
from tinyc.mlir.locations import where


def compute(elements: FlatElements, op: EpilogueSlabOp) -> None:
    """Refuse it.

    Raises:
        TinycError: `NoGpuKernel`.
    """
    message = "CUDA text of kernels on tensor cores cannot be printed yet; print their PTX, --nvvm-to-ptx"
    raise TinycError("NoGpuKernel", message, where(op.location))
