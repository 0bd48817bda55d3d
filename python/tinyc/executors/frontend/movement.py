"""Movements and casts."""

import numpy as np

from tinyc.executors.elements import convert
from tinyc.executors.frontend.elementwise import NumpyFunctions
from tinyc.vocabulary.element_type import ElementType


def _cast(x: np.ndarray, element: ElementType) -> np.ndarray:
    return convert(x, element.dtype)


FUNCTIONS: NumpyFunctions = {
    "cast": _cast,
    "extents": lambda dims, element: np.asarray(dims, element.dtype),
    "movement": {
        "reshape": lambda x, shape: x.reshape(shape),
        "permute": lambda x, perm: x.transpose(perm),
        "expand": lambda x, shape: np.broadcast_to(x, shape),
    },
}
