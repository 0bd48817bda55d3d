"""`wgmma`: products of a warpgroup, asynchronous, whose results are pending until the wait.

descriptor, product     pure: where a matrix in shared memory lies; D = A · B + D over the registers of four warps
warpgroup               four warps that execute an instruction together
operands                A and B, in shared memory or as fragments in registers
registers, pipeline     who touches registers under way; results that no register has yet
instructions            the steps
"""
