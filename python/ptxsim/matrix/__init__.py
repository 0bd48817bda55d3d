"""The matrix instructions of one warp: `mma`, `ldmatrix`, `stmatrix`, `movmatrix`; what `wgmma` shares with them.

All but `instructions` are pure functions on bit patterns: they know how many registers an instruction has and which
addresses it touches, and turn arrays of bits into arrays of bits. The files, in reading order:

    modifiers, families   the words of an instruction; which element types go together, and the shapes they have
    elements, fragments   element types as numbers; which lane and register holds which element of a matrix
    arithmetic            D = A · B + C, as tensor cores round
    mma, transfer         `WarpMma`; `MatrixTransfer` and `MatrixTranspose`
    instructions          the steps: registers and rows of shared memory between a batch and these functions

Sparse, block-scaled, 4-bit and 1-bit forms, `wmma`, and the shapes of sm_70 and sm_100 are refused at load.
"""
