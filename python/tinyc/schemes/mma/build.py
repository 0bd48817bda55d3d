"""Scheme `mma`, region → statements: the one template of kernels that multiply on tensor cores.

A kernel is five slots, in this order, around a loop along k over a circular buffer of tiles:

    load        what brings a tile of an operand to shared memory         `Loads`
    stage       how loads and products tell each other about the stages   `Rings` (waits for copies, or mbarriers)
    multiply    the product of the tiles of a stage                       `Multiply`
    epilogue    what the region makes of the accumulators                 `Results`
    store       how that gets to the outputs                              `Results`

Branches are by architecture (products of warps or of warpgroups) and by tails alone: shapes of the contraction only
decide what the bodies and the matrices of the statements are.
"""

from tinyc.dialects.gpu.dynamic_memory import dynamic_bytes
from tinyc.dialects.gpu.kernel import GpuKernel
from tinyc.dialects.gpu.launch_attributes import DYNAMIC_SHARED_BYTES
from tinyc.dialects.region.to_gpu.function import Origin
from tinyc.mlir import ir
from tinyc.schemes.mma.frame import Parts
from tinyc.schemes.mma.simple import build_of_threads
from tinyc.schemes.mma.specialised import build_of_warpgroups


def build_product(origin: Origin) -> None:
    """Write the function of a kernel."""
    parts = Parts.of(origin)
    function = build_of_warpgroups(parts) if parts.tiling.is_persistent else build_of_threads(parts)
    size = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dynamic_bytes(GpuKernel(function)))
    function.attributes[DYNAMIC_SHARED_BYTES] = size
