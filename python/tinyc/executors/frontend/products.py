"""Contractions."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions

FUNCTIONS: NumpyFunctions = {"matmul": np.matmul}
