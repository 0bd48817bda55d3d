"""The matrix instructions of PTX as pure functions on bit patterns: no registers, no memory, no scheduling.

In: the opcode and its modifiers. Out: what the instruction is: a `WarpMma` (`mma`), a `WarpgroupMma`
(`wgmma.mma_async`), a `MatrixTransfer` (`ldmatrix`, `stmatrix`) or a `MatrixTranspose` (`movmatrix`). Each tells how
many registers it has, which addresses it touches, and turns arrays of bits into arrays of bits; the engine's handlers
move those between the lanes, shared memory and here.

Sparse, block-scaled, 4-bit and 1-bit forms, `wmma`, and the shapes of sm_70 and sm_100 are refused at load.
"""

from typing import TypeAlias

from tinyc.simulator.matrix.transfer import MatrixTransfer, MatrixTranspose, parse_transfer, parse_transpose
from tinyc.simulator.matrix.warp import WarpMma, parse_mma
from tinyc.simulator.matrix.warpgroup import WARPS, Immediates, WarpgroupMma, parse_wgmma

__all__ = [
    "WARPS",
    "Immediates",
    "MatrixOperation",
    "MatrixTransfer",
    "MatrixTranspose",
    "WarpMma",
    "WarpgroupMma",
    "matrix_operation",
]

MatrixOperation: TypeAlias = WarpMma | WarpgroupMma | MatrixTransfer | MatrixTranspose


def matrix_operation(opcode: str, modifiers: tuple[str, ...]) -> MatrixOperation | None:
    """Return the matrix instruction that an opcode and its modifiers name; None: it is no matrix instruction.

    `wgmma.fence`, `wgmma.commit_group` and `wgmma.wait_group` compute nothing: None.

    Raises:
        UnknownInstruction: the ISA does not have the modifiers, or the simulator does not model them.
    """
    match opcode:
        case "mma":
            return parse_mma(modifiers)
        case "wgmma" if modifiers[:1] == ("mma_async",):
            return parse_wgmma(modifiers[1:])
        case "ldmatrix" | "stmatrix":
            return parse_transfer(opcode, modifiers)
        case "movmatrix":
            return parse_transpose(modifiers)
        case _:
            return None
