"""Trigonometric functions: numpy's, in f64."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.executors.frontend.exponential import in_f64

IN_NUMPY: NumpyFunctions = {
    "elementwise": {
        "cos": in_f64(np.cos),
        "tan": in_f64(np.tan),
        "atan": in_f64(np.arctan),
        "asin": in_f64(np.arcsin),
        "acos": in_f64(np.arccos),
    }
}
