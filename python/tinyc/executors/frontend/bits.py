"""The bits of a number as a number of another type."""

import numpy as np

from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _bitcast(x: np.ndarray, element: ElementType) -> np.ndarray:
    return x.view(element.dtype)


IN_NUMPY: NumpyFunctions = {"bitcast": _bitcast}
