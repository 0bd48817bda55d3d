"""Tensors as attributes: numpy arrays to elements attributes and back.

A tensor of few elements stands in the text of its op, `dense<[1, 2]> : tensor<2xi32>`. A larger one is a resource,
`dense_resource<const_…> : tensor<…>`: the attribute has a name, and the elements are kept here, in the memory in which
they came: a mapped file is not read. MLIR's own store of resources would write all of them out whenever IR is printed,
even to leave them out. Texts that are to be read back have the elements behind the module (`with_resource_section`), in
the form that every MLIR tool knows; `take_resources` is the way back.

The name of a resource says what it holds: a hash of its type and elements, or of a large one in a mapped file, which
is not read for it, of the file's name and size and the place. So equal tensors are one attribute, and the same program
gives the same text. Resources stay for as long as the process, as the attributes of a context do.
"""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tinyc.diagnostics import TinycError
from tinyc.mlir import ir
from tinyc.mlir.bodies import nested
from tinyc.mlir.locations import unescape, where
from tinyc.vocabulary.element_type import BY_NAME, ElementType, element_of
from tinyc.vocabulary.mapped_file import mapping_of, require_unchanged

#: A tensor of more elements is a resource.
INLINE_ELEMENTS = 64
#: A mapped tensor of more bytes is not read for its name; a smaller one is read, and then needs its file no more.
_HASHED_BYTES = 2**16

_HANDLE = re.compile(r'dense_resource<(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+))>')
#: An entry of the section of resources: its name, and its bytes behind the 4 of its alignment.
_ENTRY = re.compile(r'^\s*(?:"((?:[^"\\]|\\.)*)"|([\w.$-]+)): "0x[0-9A-F]{8}([0-9A-F]*)"', re.MULTILINE)
_NUMBER = re.compile(r"0x[0-9A-F]+|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")

#: What MLIR adds to the name of a resource that there is already.
_OWN_NAME = re.compile(r"(const_[0-9a-f]{16})(?:_\d+)*\Z")

#: The elements of each resource and its name in texts, by the name that MLIR has for it; and its attribute, by what it
#: holds and where that comes from.
_arrays: dict[str, np.ndarray] = {}
_shown: dict[str, str] = {}
_attributes: dict[tuple[str, str], ir.Attribute] = {}


@dataclass(frozen=True, eq=False)
class TensorValue:
    """What an elements attribute means: element type, shape, and the elements, which typing does not look at."""

    attribute: ir.Attribute

    @property
    def dtype(self) -> np.dtype:
        """The numpy type of the elements."""
        return BY_NAME[str(self._type.element_type)].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(self._type.shape)

    @property
    def array(self) -> np.ndarray:
        """The elements; raises as `elements_of`."""
        return elements_of(self.attribute)

    @property
    def _type(self) -> ir.RankedTensorType:
        held = self.attribute.type
        assert isinstance(held, ir.RankedTensorType)  # which is_elements has asked
        return held

    def __str__(self) -> str:
        """The type."""
        return str(self._type)


def is_elements(attribute: ir.Attribute | None) -> bool:
    """Whether an attribute is the elements of a tensor."""
    if attribute is None or not (isinstance(attribute, ir.DenseElementsAttr) or resource_name(attribute) is not None):
        return False
    return isinstance(attribute.type, ir.RankedTensorType)


def resource_name(attribute: ir.Attribute) -> str | None:
    """The name of the resource that an attribute refers to; None where it is none."""
    if type(attribute) is not ir.Attribute and not isinstance(attribute, ir.DenseResourceElementsAttr):
        return None  # the bindings know what it is, and its text may be long
    match = _HANDLE.match(str(attribute))
    return None if match is None else _named(match)


def elements_attribute(array: np.ndarray) -> ir.Attribute:
    """The attribute of a tensor, which refers to the memory of a large one."""
    element = element_of(array.dtype)
    assert element is not None  # whoever makes a tensor has looked at its type
    held = ir.RankedTensorType.get(list(array.shape), ir.Type.parse(element), loc=ir.Location.unknown())
    dense = array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)
    if dense.size <= INLINE_ELEMENTS:
        return ir.DenseElementsAttr.get(dense.view(np.uint16) if element is ElementType.BF16 else dense, type=held)
    key = _identity(dense, str(held))
    if key not in _attributes:
        attribute = ir.Attribute.parse(f"dense_resource<const_{key[0]}> : {held}")
        name = resource_name(attribute)
        assert name is not None
        own = f"const_{key[0]}"
        if own in _shown.values():  # of another file that is called so
            own = f"{own}_{hashlib.sha256(key[1].encode()).hexdigest()[:8]}"
        is_read = isinstance(dense, np.memmap) and not key[1]
        _arrays[name], _shown[name] = np.array(dense) if is_read else dense, own
        _attributes[key] = attribute
    return _attributes[key]


def elements_of(attribute: ir.Attribute) -> np.ndarray:
    """The elements of a tensor, read-only, in the memory in which they are.

    Raises:
        TinycError: `InvalidAttribute`: they have been left out of the text that the attribute comes from.
    """
    name = resource_name(attribute)
    if name is not None:
        if name not in _arrays:
            raise TinycError("InvalidAttribute", left_out(name))
        return _read_only(_held(name))
    held = attribute.type
    assert isinstance(held, ir.RankedTensorType)
    assert isinstance(attribute, ir.DenseElementsAttr)
    element = BY_NAME[str(held.element_type)]
    return _read_only(_dense_elements(attribute, element, tuple(held.shape)))


def _held(name: str) -> np.ndarray:
    """The elements of a resource, for whoever reads them."""
    require_unchanged(_arrays[name])
    return _arrays[name]


def left_out(name: str) -> str:
    """The message about a resource without elements."""
    own = _OWN_NAME.match(name)
    return (
        f"the elements of 'dense_resource<{own[1] if own else name}>' are not in this text, which was written for "
        "reading; dump it with tinyc compile --dump-constants, or write it with tinyc-opt, which keeps them"
    )


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def _dense_elements(attribute: ir.DenseElementsAttr, element: ElementType, shape: tuple[int, ...]) -> np.ndarray:
    if attribute.is_splat and 0 not in shape:
        value = attribute.get_splat_value()
        assert isinstance(value, ir.FloatAttr | ir.IntegerAttr | ir.BoolAttr)
        number = value.value % 2**element.bits if element.is_unsigned else value.value
        return np.broadcast_to(np.asarray(number).astype(element.dtype), shape)
    if element is not ElementType.BF16:
        return np.array(attribute)
    # The bindings have no buffer of this type: its numbers are read from the text, which has enough digits of them.
    body = str(attribute).partition("<")[2].rpartition("> : ")[0]
    if body.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(body[3:-1]), element.dtype).reshape(shape)
    return np.array([_bf16(token) for token in _NUMBER.findall(body)], np.uint16).view(element.dtype).reshape(shape)


def _bf16(token: str) -> int:
    if token.startswith("0x"):
        return int(token, 16)
    return int(np.float32(token).astype(ElementType.BF16.dtype).view(np.uint16))


def _identity(array: np.ndarray, held: str) -> tuple[str, str]:
    """A hash of what a tensor holds, and of a file that is not read which one it is."""
    digest, origin = hashlib.sha256(held.encode()), ""
    mapped = mapping_of(array)
    if mapped is not None and array.nbytes > _HASHED_BYTES:
        path, state = Path(str(mapped.filename)), mapped.state
        offset = mapped.offset + array.ctypes.data - mapped.ctypes.data
        digest.update(f"{path.name} {state.st_size} {offset}".encode())
        origin = f"{path} {state.st_mtime_ns}"
    else:
        digest.update(array.reshape(-1).view(np.uint8).data)
    return digest.hexdigest()[:16], origin


# --- in texts ---------------------------------------------------------------------------------------------------------


def with_resource_section(printed: str, limit: int | None = None) -> str:
    """A text of MLIR's with the elements of all resources behind it; those of more characters are left out."""
    found: dict[str, np.ndarray] = {}

    def own_name(match: re.Match[str]) -> str:
        name = _named(match)
        if name not in _arrays:
            return match[0]
        found[_shown[name]] = _held(name)
        return f"dense_resource<{_shown[name]}>"

    text = _HANDLE.sub(own_name, printed)
    kept = {name: array for name, array in found.items() if limit is None or 2 * array.nbytes <= limit}
    if not kept:
        return text
    entries = ",\n".join(f'      {name}: "0x{_hex(array)}"' for name, array in kept.items())
    return f"{text}\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{entries}\n    }}\n  }}\n#-}}\n"


def _hex(array: np.ndarray) -> str:
    """The alignment and the bytes of a tensor, as MLIR writes them."""
    return (array.itemsize.to_bytes(4, "little") + array.tobytes()).hex().upper()


def take_resources(module: ir.Module) -> None:
    """Take over the elements of the resources of a module that has just been read; equal ones become one.

    Raises:
        TinycError: `InvalidAttribute`: they are not as many as the type says, or not there.
    """
    for op, attribute, name in _resources(module.operation):
        if name not in _arrays:
            try:
                op.attributes["value"] = _taken(attribute, name)
            except TinycError as error:
                raise error.at(where(op.location)) from None


def _resources(inside: ir.OpView | ir.Operation) -> list[tuple[ir.Operation, ir.Attribute, str]]:
    """The ops whose `value` is a resource, and a tensor of Tiny's; all others are MLIR's to keep."""
    found = ((op, op.attributes["value"]) for op in nested(inside) if "value" in op.attributes)
    named = ((op, attribute, resource_name(attribute)) for op, attribute in found)
    return [(op, attribute, name) for op, attribute, name in named if name is not None and _is_tensor(attribute.type)]


def _is_tensor(held: ir.Type) -> bool:
    return isinstance(held, ir.RankedTensorType) and held.has_static_shape and str(held.element_type) in BY_NAME


def _taken(attribute: ir.Attribute, name: str) -> ir.Attribute:
    """The attribute of the elements that MLIR has read: it hands them out where it prints a whole module."""
    held = attribute.type
    assert isinstance(held, ir.RankedTensorType)  # _resources has asked
    holder = ir.Module.create().operation
    holder.attributes["tiny.value"] = attribute
    found = {_named(match): match[3] for match in _ENTRY.finditer(holder.get_asm())}
    if name not in found:
        raise TinycError("InvalidAttribute", left_out(name))
    element, shape, data = BY_NAME[str(held.element_type)], tuple(held.shape), bytes.fromhex(found[name])
    expected = int(np.prod(shape, dtype=object)) * element.size_bytes
    if len(data) != expected:
        message = f"the resource of {attribute} has {len(data)} bytes, and its type takes {expected}"
        raise TinycError("InvalidAttribute", message)
    if element.is_bool and data.strip(b"\0\1"):
        raise TinycError("InvalidAttribute", f"the resource of {attribute} has a byte that is neither 0 nor 1")
    return elements_attribute(np.frombuffer(data, element.dtype).reshape(shape))


def _named(match: re.Match[str]) -> str:
    return match[2] if match[1] is None else unescape(match[1])


def with_resources(inside: ir.OpView | ir.Operation) -> None:
    """Give MLIR the elements of the resources of a module's op, for what it writes itself: bytecode."""
    given: dict[str, ir.Attribute] = {}
    for op, attribute, name in _resources(inside):
        if name not in given:
            data = _held(name).reshape(-1).view(np.uint8).data
            given[name] = ir.DenseResourceElementsAttr.get_from_buffer(data, name, attribute.type)
        op.attributes["value"] = given[name]
