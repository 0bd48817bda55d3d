"""The matrix instructions of one warp: `mma`, `ldmatrix`, `stmatrix`, `movmatrix`, `wmma`; what `wgmma` shares.

Most are pure functions on bit patterns: they know how many registers an instruction has and which addresses it
touches, and turn arrays of bits into arrays of bits. The files, in reading order:

    modifiers, families   the words of an instruction; which element types go together, and the shapes they have
    elements, fragments   element types as numbers; which lane and register holds which element of a matrix
    arithmetic            D = A · B + C, as tensor cores round
    mma                   `WarpMma`, the product of `mma` and `wmma.mma`
    transfer, wmma        `MatrixTransfer` and `MatrixTranspose`; `WmmaTransfer`
    operands              the registers of a batch as one array
    memory, instructions  the steps: registers and memory between a batch and these functions

Sparse and block-scaled forms, 4-bit and 1-bit forms of `mma`, and the shapes of sm_70 and sm_100 are refused at load.
"""
