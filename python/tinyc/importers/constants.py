"""The `arg` of a `CONST`: a number, the values of a tensor, or a tensor in a file; the last two become arrays.

In: the arguments as they are written, and the node, whose file relative paths are relative to. Out: the arguments that
`tinyc.vocabulary.infer` takes, `value`, `element` and `shape`.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.executors.elements import convert
from tinyc.importers.json_text import shown_json
from tinyc.importers.spellings import Node
from tinyc.importers.weights_file import read_tensor
from tinyc.vocabulary.element_type import ElementType, element_of
from tinyc.vocabulary.infer import check_constant

#: The keys of an `arg` that say what a constant is; it has one of them.
KINDS = ("value", "values", "file")


def constant_arguments(node: Node, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a `CONST` as plain data: a number, or an array of the element type.

    Raises:
        TinycError: `MissingArgument`, `InvalidAttribute`, `InvalidExtent`, `DtypeMismatch`, `ShapeContradiction`,
            `UnreadableFile`.
    """
    given = [kind for kind in KINDS if kind in arguments]
    if len(given) != 1:
        if not given:
            raise TinycError("MissingArgument", "the arg of CONST needs 'value', 'values', or 'file' and 'name'")
        raise TinycError("InvalidAttribute", f"the arg of CONST has {' and '.join(map(repr, given))}; give one")
    if "name" in arguments and given != ["file"]:
        raise TinycError("InvalidAttribute", "the arg of CONST has 'name' without 'file', which it is in; give both")
    if given == ["file"]:
        return _of_array(_from_file(node, arguments), arguments)
    if "element" not in arguments:
        raise TinycError("MissingArgument", "the arg of CONST needs 'dtype'")
    if given == ["value"]:
        return {"shape": (), **arguments}
    return _of_array(_from_lists(arguments["values"], arguments["element"], _extents(arguments)), arguments)


def _of_array(array: np.ndarray, arguments: Mapping[str, Any]) -> dict[str, Any]:
    element = element_of(array.dtype)
    if element is None:
        name, known = arguments["name"], ", ".join(each.json_name for each in ElementType)
        message = f"'{name}' in '{arguments['file']}' is of type {array.dtype}, which Tiny lacks; it has {known}"
        raise TinycError("DtypeMismatch", message)
    return {"value": array, "element": element, "shape": array.shape}


def _extents(arguments: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The shape that is written, if one is; its extents are numbers."""
    shape = arguments.get("shape")
    if shape is None or all(isinstance(extent, int) for extent in shape):
        return shape
    listed = ", ".join(map(str, shape))
    raise TinycError("InvalidExtent", f"'shape' in the arg of CONST is [{listed}]; write numbers: its values are given")


# --- values -----------------------------------------------------------------------------------------------------------


def _from_lists(values: list[Any], element: ElementType, shape: tuple[int, ...] | None) -> np.ndarray:
    """Nested lists, or a flat one with a `shape`, as an array."""
    nested, flat = _flattened(values)
    wanted = nested if shape is None else shape
    if nested not in (wanted, (int(np.prod(wanted, dtype=object)),)):
        shown = " x ".join(map(str, nested))
        raise TinycError(
            "ShapeContradiction",
            f"'values' in the arg of CONST has {shown} numbers, and 'shape' is {list(wanted)}; give as many, in lists "
            "of that shape or in one",
        )
    for position, number in _suspects(flat, element):
        index = [int(each) for each in np.unravel_index(position, nested)]
        try:
            _check_number(number, element)
        except TinycError as error:
            raise TinycError(error.name, f"'values' in the arg of CONST, element {index}: {error.message}") from None
    numbers = np.array([float(each) for each in flat]) if element.is_float else np.array(flat, element.dtype)
    return convert(numbers, element.dtype).reshape(wanted)


def _flattened(values: list[Any]) -> tuple[tuple[int, ...], list[Any]]:
    """The shape of nested lists, and what is in them in row-major order."""
    shape, flat = [len(values)], values
    while any(isinstance(each, list) for each in flat):
        lengths = {len(each) if isinstance(each, list) else None for each in flat}
        if len(lengths) != 1:
            found = ["a number" if each is None else f"a list of {each}" for each in sorted(lengths, key=str)]
            message = f"has {' and '.join(found)} at depth {len(shape)}; give lists of one length"
            message = f"'values' in the arg of CONST {message}"
            raise TinycError("InvalidAttribute", message)
        shape.append(lengths.pop() or 0)
        flat = [number for each in flat for number in each]
    return tuple(shape), flat


def _suspects(flat: list[Any], element: ElementType) -> Iterator[tuple[int, Any]]:
    """The numbers that may not be ones of an element type: those of another kind, or the least and the greatest."""
    plain = {int, bool} if element.is_bool else {int, float} if element.is_float else {int}
    other = next((place for place, number in enumerate(flat) if type(number) not in plain), None)
    if other is not None:
        yield other, flat[other]
        return
    finite = [place for place, number in enumerate(flat) if number == number]  # NaN is in no order
    if finite:
        yield min(finite, key=flat.__getitem__), flat[min(finite, key=flat.__getitem__)]
        yield max(finite, key=flat.__getitem__), flat[max(finite, key=flat.__getitem__)]


def _check_number(number: Any, element: ElementType) -> None:
    """Raise `InvalidAttribute` or `DtypeMismatch` unless what stands in a list is a number of an element type."""
    if not isinstance(number, int | float) or (isinstance(number, bool) and not element.is_bool):
        message = f"{shown_json(number)} is not a value of {element.json_name}; write a number"
        raise TinycError("InvalidAttribute", message)
    check_constant(number, element)


# --- files ------------------------------------------------------------------------------------------------------------


def _from_file(node: Node, arguments: Mapping[str, Any]) -> np.ndarray:
    """The tensor that a `file` and a `name` mean, checked against what is written of it."""
    if "name" not in arguments:
        raise TinycError("MissingArgument", "the arg of CONST needs 'name' beside 'file', the tensor's name in it")
    name, shape, element = arguments["name"], _extents(arguments), arguments.get("element")
    try:
        array = read_tensor(Path(node.where.file or "").parent / arguments["file"], name)
    except TinycError as error:  # the place to correct is the node
        raise TinycError(error.name, f"'{arguments['file']}': {error.message}") from None
    if element is ElementType.BF16 and array.dtype in (np.dtype(np.uint16), np.dtype("V2")):
        array = array.view(element.dtype)  # numpy's files have no bf16, only its bits
    if element is not None and array.dtype != element.dtype:
        found = f"{array.dtype}, and 'dtype' says {element.json_name}"
        raise TinycError("DtypeMismatch", f"'{name}' in '{arguments['file']}' is {found}; correct it")
    if shape is not None and array.shape != shape:
        listed = f"{list(array.shape)}, and 'shape' says {list(shape)}"
        raise TinycError("ShapeContradiction", f"'{name}' in '{arguments['file']}' is {listed}; correct it")
    return array
