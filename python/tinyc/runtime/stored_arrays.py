"""Arrays in a file of named sections: what the manifest says of each, and its bytes in a section of its own.

In: arrays by name, and what the names of their sections begin with. Out: plain data and views of bytes; and back.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tinyc.runtime.container import MalformedModel
from tinyc.vocabulary.element_type import BY_NAME, element_of


def stored_arrays(prefix: str, arrays: Mapping[str, np.ndarray]) -> tuple[list[dict[str, Any]], dict[str, memoryview]]:
    """The description of each array, and the sections that have their bytes, row-major."""
    dense = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    described = [
        {"name": name, "element": element_of(array.dtype), "shape": list(array.shape)} for name, array in dense.items()
    ]
    return described, {prefix + name: array.reshape(-1).view(np.uint8).data for name, array in dense.items()}


def arrays_in(
    prefix: str, described: Iterable[Mapping[str, Any]], sections: Mapping[str, memoryview]
) -> dict[str, np.ndarray]:
    """The arrays by name, which are views of the sections.

    Raises:
        MalformedModel: a section has not the size of its array.
        KeyError, TypeError, ValueError: what is described is no array, or has no section.
    """
    return {each["name"]: _array(each, sections[prefix + each["name"]]) for each in described}


def _array(described: Mapping[str, Any], data: memoryview) -> np.ndarray:
    element, shape = BY_NAME[described["element"]], tuple(described["shape"])
    if math.prod(shape) * element.size_bytes != len(data):
        what = f"array '{described['name']}' is {element} {list(shape)}"
        raise MalformedModel(f"{what}, and its section has {len(data)} bytes")
    return np.ndarray(shape, element.dtype, buffer=data)
