"""The `exec` dialect, its attributes, and what attributes mean as the plain data of `tinyc.runtime.program`.

In: the attributes of an op of the layer. Out: frozen data without MLIR. An extent is an `i64` or canonical text:
`offset = "8*M"`. The parameters of a launch are `#exec.ptr<"temp_0", tensor<…>>` (the buffer's address; the kernel sees
it as a dense array of that tensor's shape), `#exec.status<0>` (the slot of the status buffer in which the kernel
reports an index that is out of range), `#exec.extent<"M">`, and a map of a buffer that is passed too, innermost
dimension first: `#exec.tensor_map<"temp_0", f16, dims = …, strides = …, box = …, swizzle = …>`, written without the
names.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from tinyc.diagnostics import TinycError, Where
from tinyc.expr import extents
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim, ExtentError
from tinyc.expr.maximum import MaximumDim, maximum
from tinyc.mlir import ext, ir
from tinyc.mlir.locations import where
from tinyc.runtime.program import Alternative, ExtentValue, Grid, Parameter, Pointer, Status, TensorMapParameter
from tinyc.runtime.tensor_map import Tiling
from tinyc.vocabulary.attributes import tensor_type
from tinyc.vocabulary.element_type import BY_NAME
from tinyc.vocabulary.types import TensorType

#: AttributeMap that may be left out: the node that an op is for, the extents of the axes that an input indexes, and the
#: kernels that may take the place of a launch's own.
NODE, INDEXES, KERNEL_ALTERNATIVES = "exec.node", "exec.indexes", "exec.alternatives"
#: AttributeMap by name: those of an op, or the entries of a dictionary.
AttributeMap: TypeAlias = ir.OpAttributeMap | Mapping[str, ir.Attribute]
_ALTERNATIVE_KEYS = {"guards", "symbol", "grid", "block", "cluster", "dynamic_shared_bytes", "parameters"}


class Exec(ext.Dialect, name="exec"):
    """The host program: one arena, buffers at offsets, kernels in generations."""


class PtrAttr(Exec.Attribute, name="ptr"):
    """Parameter: the address of a buffer, seen as a dense row-major array of the tensor's shape."""

    buffer: ir.StringAttr
    tensor: Any


class StatusAttr(Exec.Attribute, name="status"):
    """Parameter: the address of a slot of the status buffer, which notes an index out of range (`runtime.program`)."""

    slot: ir.IntegerAttr


class ExtentAttr(Exec.Attribute, name="extent"):
    """Parameter: the value of an extent."""

    value: Any


class TensorMapAttr(Exec.Attribute, name="tensor_map"):
    """Parameter: a tensor map: `#exec.tensor_map<"input_0", f16, ["K", "M"], ["2*K"], [64, 128], 128 : i64>`.

    Of a buffer of elements f16 the dims, and in bytes the strides of all but the first; the box; the swizzle in bytes.
    """

    buffer: ir.StringAttr
    element: ir.TypeAttr
    dims: ir.ArrayAttr
    strides: ir.ArrayAttr
    box: ir.ArrayAttr
    swizzle: ir.IntegerAttr


# What each reader raises is a TinycError: `InvalidAttribute`, or `InvalidExtent` of an extent.


def nonempty_text_of(attributes: AttributeMap, name: str) -> str:
    """The string `name`, which is not empty."""
    attribute = attributes[name]
    if not isinstance(attribute, ir.StringAttr) or not attribute.value:
        raise TinycError("InvalidAttribute", f"'{name}' is {attribute}; it must be a string, and not empty")
    return attribute.value


def word_of(attributes: AttributeMap, name: str, allowed: tuple[str, ...]) -> str:
    """The string `name`, one of a few words."""
    value = nonempty_text_of(attributes, name)
    if value not in allowed:
        raise TinycError("InvalidAttribute", f"'{name}' is {value!r}; it must be {' or '.join(map(repr, allowed))}")
    return value


def distinct_texts_of(attributes: AttributeMap, name: str) -> tuple[str, ...]:
    """The array of strings `name`, no two alike."""
    names: list[str] = []
    for entry in _array(attributes, name):
        if not isinstance(entry, ir.StringAttr) or not entry.value:
            raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; it must be an array of strings")
        names.append(entry.value)
    if len(set(names)) != len(names):
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; name each once")
    return tuple(names)


def pairs_of(attributes: AttributeMap, name: str) -> tuple[tuple[str, str], ...]:
    """The array of pairs of strings `name`, each string once; none where it is left out."""
    found: list[tuple[str, str]] = []
    for entry in _array(attributes, name) if name in attributes else []:
        parts = list(entry) if isinstance(entry, ir.ArrayAttr) else []
        names = [each.value for each in parts if isinstance(each, ir.StringAttr)]
        if len(names) != 2 or len(parts) != 2:
            expected = 'it must be an array of pairs of strings, [["read", "written"]]'
            raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; {expected}")
        found.append((names[0], names[1]))
    if len({name for pair in found for name in pair}) != 2 * len(found):
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; name each buffer once")
    return tuple(found)


def place_of(attributes: AttributeMap, location: ir.Location) -> Where:
    """The place of an op: its location, and the user's node that it is for, which `exec.node` says in a text."""
    at = where(location)
    return replace(at, node=nonempty_text_of(attributes, NODE)) if NODE in attributes else at


def indexes_of(attributes: AttributeMap) -> tuple[Dim, ...]:
    """The extents `exec.indexes` of the axes that a buffer's elements index; none where it is left out."""
    entries = _array(attributes, INDEXES) if INDEXES in attributes else []
    return tuple(_extent(INDEXES, entry) for entry in entries)


def extent_of(attributes: AttributeMap, name: str) -> Dim:
    """The extent `name`: an integer, or canonical text."""
    return _extent(name, attributes[name])


def maximum_of(attributes: AttributeMap, name: str) -> MaximumDim:
    """The extent `name`, or the largest of an array of several."""
    if not isinstance(attributes[name], ir.ArrayAttr):
        return extent_of(attributes, name)
    dims = [_extent(name, entry) for entry in _array(attributes, name)]
    if len(dims) < 2:
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; an array has two extents or more")
    return maximum(dims)


def size_of(attributes: AttributeMap, name: str) -> int:
    """The number of bytes `name`."""
    value = _extent(name, attributes[name])
    if not isinstance(value, int) or value < 0:
        raise TinycError("InvalidAttribute", f"'{name}' is {value}; it must be a number of bytes")
    return value


def flag_of(attributes: AttributeMap, name: str) -> bool:
    """Whether the unit attribute `name` is there."""
    attribute = attributes.get(name, None)
    if attribute is not None and not isinstance(attribute, ir.UnitAttr):
        raise TinycError("InvalidAttribute", f"'{name}' is {attribute}; write it without a value, or leave it out")
    return attribute is not None


def grid_of(attributes: AttributeMap, name: str) -> Grid:
    """The three extents `name`, along x, y and z."""
    sizes = tuple(_extent(name, each) for each in _array(attributes, name))
    if len(sizes) != 3:
        raise TinycError("InvalidAttribute", f"'{name}' is {attributes[name]}; it must have three extents, x y z")
    return sizes[0], sizes[1], sizes[2]


def tensor_of(attribute: ir.Attribute) -> TensorType:
    """The tensor that a type attribute means."""
    if not isinstance(attribute, ir.TypeAttr):
        raise TinycError("InvalidAttribute", f"{attribute} is not a tensor type; write tensor<…>")
    return tensor_type(attribute.value)


def symbol_of(attributes: AttributeMap) -> str:
    """The kernel `symbol`."""
    symbol = attributes["symbol"]
    if not isinstance(symbol, ir.FlatSymbolRefAttr):
        raise TinycError("InvalidAttribute", f"'symbol' is {symbol}; it must name a kernel, @name")
    return symbol.value


def alternatives_of(attributes: AttributeMap) -> tuple[Alternative, ...]:
    """The `alternatives` of a launch, in order; none where they are left out."""
    entries = _array(attributes, KERNEL_ALTERNATIVES) if KERNEL_ALTERNATIVES in attributes else []
    return tuple(_alternative(each) for each in entries)


def _alternative(attribute: ir.Attribute) -> Alternative:
    entries = {each.name: each.attr for each in attribute} if isinstance(attribute, ir.DictAttr) else {}
    if entries.keys() != _ALTERNATIVE_KEYS:
        expected = ", ".join(sorted(_ALTERNATIVE_KEYS))
        raise TinycError("InvalidAttribute", f"alternative {attribute} must be a dictionary of {expected}")
    return Alternative(
        guards=tuple(_guard(each) for each in _array(entries, "guards")),
        symbol=symbol_of(entries),
        grid=grid_of(entries, "grid"),
        block=grid_of(entries, "block"),
        cluster=grid_of(entries, "cluster"),
        dynamic_shared_bytes=extent_of(entries, "dynamic_shared_bytes"),
        parameters=launch_parameters_of(entries),
    )


def _guard(attribute: ir.Attribute) -> Assumption:
    parts = list(attribute) if isinstance(attribute, ir.ArrayAttr) else []
    predicate = parts[1].value if len(parts) == 3 and isinstance(parts[1], ir.StringAttr) else ""
    if predicate not in ("eq", "le"):
        message = f'guard {attribute} must be two extents and a predicate between them, ["M", "eq", 128]'
        raise TinycError("InvalidAttribute", message)
    return Assumption(_extent("guards", parts[0]), predicate, _extent("guards", parts[2]))


def launch_parameters_of(attributes: AttributeMap) -> tuple[Parameter, ...]:
    """The `parameters` of a launch, in order."""
    return tuple(_parameter(each) for each in _array(attributes, "parameters"))


def _parameter(attribute: ir.Attribute) -> Parameter:
    if isinstance(attribute, PtrAttr):
        name, tensor = (each.maybe_downcast() for each in attribute.params)
        if isinstance(name, ir.StringAttr):
            held = tensor_of(tensor)
            return Pointer(name.value, held.element, held.shape)
    elif isinstance(attribute, StatusAttr):
        slot = attribute.params[0].maybe_downcast()
        if isinstance(slot, ir.IntegerAttr) and slot.value >= 0:
            return Status(slot.value)
    elif isinstance(attribute, ExtentAttr):
        return ExtentValue(_extent("parameters", attribute.params[0].maybe_downcast()))
    elif isinstance(attribute, TensorMapAttr):
        return _tensor_map(attribute)
    raise TinycError(
        "InvalidAttribute",
        f'parameter {attribute} is not one of #exec.ptr<"buffer", tensor<…>>, #exec.status<slot>, #exec.extent<…>, '
        "#exec.tensor_map<…>",
    )


def _tensor_map(attribute: TensorMapAttr) -> TensorMapParameter:
    names = ("buffer", "element", "dims", "strides", "box", "swizzle")
    given = {name: each.maybe_downcast() for name, each in zip(names, attribute.params, strict=True)}
    element = BY_NAME.get(str(given["element"]))
    if element is None:
        known = ", ".join(BY_NAME)
        raise TinycError("InvalidAttribute", f"{attribute} is of {given['element']}; it must be one of {known}")
    dims, strides, box = (
        tuple(_extent(name, each) for each in _array(given, name)) for name in ("dims", "strides", "box")
    )
    sides, swizzle = tuple(side for side in box if isinstance(side, int)), _extent("swizzle", given["swizzle"])
    if len(sides) != len(box) or not isinstance(swizzle, int):
        raise TinycError("InvalidAttribute", f"{attribute} has a box or a swizzle that depends on sizes; write numbers")
    tiling = Tiling(dims, strides, sides, swizzle)
    fault = tiling.fault(element.size_bytes)
    if fault is not None:
        raise TinycError("InvalidAttribute", f"{attribute} {fault}")
    return TensorMapParameter(nonempty_text_of(given, "buffer"), element, tiling)


def _array(attributes: AttributeMap, name: str) -> list[ir.Attribute]:
    attribute = attributes[name]
    if not isinstance(attribute, ir.ArrayAttr):
        raise TinycError("InvalidAttribute", f"'{name}' is {attribute}; it must be an array, […]")
    return list(attribute)


def _extent(name: str, attribute: ir.Attribute) -> Dim:
    if isinstance(attribute, ir.IntegerAttr) and not isinstance(attribute, ir.BoolAttr):
        return attribute.value
    if not isinstance(attribute, ir.StringAttr):
        raise TinycError("InvalidExtent", f"'{name}' is {attribute}; it must be an integer or an extent, \"4*M\"")
    try:
        value = extents.parse_extent(attribute.value)
    except ExtentError as error:
        raise TinycError("InvalidExtent", f"'{name}': {error}") from None
    if isinstance(value, int) or str(value) != attribute.value:
        canonical = value if isinstance(value, int) else f'"{value}"'
        raise TinycError("InvalidExtent", f"'{name}' is {attribute}, which is not canonical; write {canonical}")
    return value
