"""`wgmma` in the engine: operands, results that are pending until the wait, and the checks of registers under way."""
