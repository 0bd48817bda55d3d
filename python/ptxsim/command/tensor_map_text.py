"""Reads a tensor map that is written as JSON: the parameters of `TensorMap.tiled` or `TensorMap.im2col` by name.

In: the text, and a function from the name of an array to the array. Out: a `TensorMap`. What the array says need not be
written: `{"array": "x", "box_dim": [64, 64], "swizzle": "128B"}` is a whole map.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ptxsim.errors import InputError, suggest
from ptxsim.tensor_maps.tensor_map import TensorMap

_ARRAY = "array"
_FROM_ARRAY = ("tensor_rank", "global_address", "global_dim", "global_strides", "element_strides")
_EXAMPLE = '{"array": "x", "box_dim": [64, 64], "swizzle": "128B"}'


def tensor_map(text: str, array_of: Callable[[str], np.ndarray]) -> TensorMap:
    """The map; it is one of columns of an image if it has `pixels_per_column`.

    Raises:
        InputError: the text is not such JSON, or the driver would refuse the map.
    """
    fields = _fields(text)
    name = fields.pop(_ARRAY, None)
    if not isinstance(name, str):
        raise InputError(f"the tensor map has no '{_ARRAY}', the name of its array: {_EXAMPLE}")
    make = TensorMap.im2col if "pixels_per_column" in fields else TensorMap.tiled
    names = inspect.signature(make).parameters
    for field in fields:
        if field not in names or field == "global_address":
            known = [_ARRAY, *(each for each in names if each != "global_address")]
            raise InputError(f"a tensor map has no '{field}'{suggest(field, known)}")
    wanted = [each for each, parameter in names.items() if parameter.default is parameter.empty]
    missing = [each for each in wanted if each not in fields and each not in _FROM_ARRAY]
    if missing:
        raise InputError(f"the tensor map lacks {', '.join(missing)}; one is {_EXAMPLE}")
    return make(**described(array_of(name)) | fields)


def described(array: np.ndarray) -> dict[str, Any]:
    """The parameters of its map that an array gives: those that both kinds of map have, innermost first."""
    return {
        "tensor_rank": array.ndim,
        "global_address": array,
        "global_dim": array.shape[::-1],
        "global_strides": array.strides[-2::-1],
        "element_strides": (1,) * array.ndim,
    }


def _fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the tensor map is no JSON ({error}); write {_EXAMPLE}") from None
    if not isinstance(fields, Mapping):
        raise InputError(f"the tensor map is no JSON object; write {_EXAMPLE}")
    return dict(fields)
