"""`gpu.shuffle` as kernels have it: all lanes of a warp exchange a word or two, by a constant distance or from a lane.

In: the op. Out: its mode, or why it is none that a kernel may have. Lowering, CUDA text and executor read it here.
"""

from tinyc.diagnostics import TinycError
from tinyc.mlir import arith, gpu, ir
from tinyc.mlir.locations import where

WARP_LANES = 32
_SHUFFLED = ("i32", "f32", "i64", "f64")


def shuffle_mode(op: gpu.ShuffleOp) -> str:
    """The mode of a shuffle: xor, up, down or idx.

    Raises:
        TinycError: `NoGpuKernel`: it is not one of whole warps, or of a type that no shuffle moves.
    """
    width = op.width.owner
    is_whole = isinstance(width, arith.ConstantOp) and ir.IntegerAttr(width.value).value == WARP_LANES
    if not is_whole or list(op.valid.uses) or str(op.value.type) not in _SHUFFLED:
        message = (
            f"'gpu.shuffle' of {op.value.type} is none that a kernel may have; shuffle {', '.join(_SHUFFLED)} with a "
            f"constant width of {WARP_LANES}, and compare lane numbers instead of asking whether there was a lane"
        )
        raise TinycError("NoGpuKernel", message, where(op.location))
    return str(op.mode).rstrip(">").rpartition(" ")[2]
