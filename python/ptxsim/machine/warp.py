"""A warp: 32 lanes, whose registers are the last axis of an array."""

import numpy as np

#: Lanes of a warp, and their numbers.
WARP = 32
LANES = np.arange(WARP)
