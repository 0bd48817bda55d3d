"""Where a model comes from: a file, bytes or a `ModelProto`; and the tensors that lie in files beside it."""

import math
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import DecodeError, Message

from tinyc.diagnostics import TinycError, Where
from tinyc.importers.files import note_file, unreadable_file
from tinyc.importers.onnx.attributes import array_of, element_of_onnx
from tinyc.importers.onnx.values import Known, known_array

#: How deep messages may lie in each other. Python's stack has room for ten times as many; a branch of an `If` is three.
_MAX_DEPTH = 120


def parse_model(raw: bytes, filename: str | None) -> onnx.ModelProto:
    """The model that bytes mean.

    Raises:
        TinycError: `InvalidOnnx`.
    """
    where = Where(file=filename)
    try:
        model = onnx.ModelProto.FromString(raw)
    except DecodeError as error:
        if "MaxDepth" in str(error):
            raise _too_deep().at(where) from None
        raise TinycError("InvalidOnnx", f"the file is no ONNX model, or damaged: {error}", where) from None
    if not model.HasField("graph"):
        raise TinycError("InvalidOnnx", "the file is no ONNX model: it has no graph", where)
    return model


def require_model(given: object) -> None:
    """Check that a model is given, not a part of one.

    Raises:
        TinycError: `UnreadableFile`.
    """
    if isinstance(given, onnx.ModelProto):
        return
    remedy = "onnx.helper.make_model(graph)" if isinstance(given, onnx.GraphProto) else "an onnx.ModelProto"
    raise TinycError("UnreadableFile", f"a {type(given).__name__} is not an ONNX model; give {remedy}")


def check_messages(message: Message, depth: int = 0) -> None:
    """Check that all texts of a model are texts (protobuf hands out others as bytes), and how deep its graphs lie.

    Raises:
        TinycError: `InvalidOnnx`, `UnsupportedOnnx`.
    """
    if depth > _MAX_DEPTH:
        raise _too_deep()
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for each in [value] if isinstance(value, Message) else value:
                check_messages(each, depth + 1)
        elif field.type == FieldDescriptor.TYPE_STRING:
            wrong = [each for each in ([value] if isinstance(value, str | bytes) else value) if isinstance(each, bytes)]
            if wrong:
                raise TinycError(
                    "InvalidOnnx", f"the model is damaged: {wrong[0]!r:.60}, its {field.name}, is no UTF-8"
                )


def _too_deep() -> TinycError:
    return TinycError("UnsupportedOnnx", "graphs lie in each other deeper than protobuf reads, which is 100 messages")


def initializer(tensor: onnx.TensorProto, folder: Path | None) -> Known:
    """An initialiser as a value that is known.

    Raises:
        TinycError: as `tensor_array`.
    """
    return known_array(tensor_array(tensor, folder), tensor.name)


def tensor_array(tensor: onnx.TensorProto, folder: Path | None) -> np.ndarray:
    """The elements of an initialiser or a constant: those in the model, or mapped from a file in the model's folder.

    Raises:
        TinycError: `InvalidOnnx`, `UnsupportedOnnx`, `UnreadableFile`.
    """
    if tensor.data_location != onnx.TensorProto.EXTERNAL:
        return array_of(tensor)
    if folder is None:
        message = f"tensor '{tensor.name}' lies in a file, and the model was given without its folder; give its path"
        raise TinycError("InvalidOnnx", message)
    return _mapped(tensor, {each.key: each.value for each in tensor.external_data}, folder)


def _mapped(tensor: onnx.TensorProto, entries: Mapping[str, str], folder: Path) -> np.ndarray:
    element, shape = element_of_onnx(tensor.data_type), tuple(tensor.dims)
    path = _inside(tensor.name, entries.get("location", ""), folder)
    note_file(path)
    offset, needed = _number(tensor, entries, "offset", 0), math.prod(shape) * element.size_bytes
    length = _number(tensor, entries, "length", needed)
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait
            raise TinycError("InvalidOnnx", f"tensor '{tensor.name}': '{path.name}' is no regular file")
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if length != needed:
                message = f"tensor '{tensor.name}' has {needed} bytes, and takes {length} of '{path.name}'"
                raise TinycError("InvalidOnnx", message)
            if min((*shape, offset)) < 0 or offset + needed > status.st_size:
                message = f"tensor '{tensor.name}' takes bytes {offset} … {offset + needed} of '{path.name}'"
                raise TinycError("InvalidOnnx", f"{message}, which has {status.st_size}")
            if not needed:
                return np.empty(shape, element.dtype)
            return np.memmap(file, element.dtype, "r", offset, shape)
    except (OSError, ValueError) as error:
        message = f"tensor '{tensor.name}' lies in '{path}': {unreadable_file('read', path, error).message}"
        raise TinycError("UnreadableFile", message) from None


def _number(tensor: onnx.TensorProto, entries: Mapping[str, str], name: str, default: int) -> int:
    given = entries.get(name, str(default))
    if re.fullmatch(r"-?[0-9]{1,20}", given) is None:
        raise TinycError("InvalidOnnx", f"tensor '{tensor.name}': its {name} {given!r:.40} is no number")
    return int(given)


def _inside(name: str, location: str, folder: Path) -> Path:
    """The file of a tensor, which must lie in the model's folder, links followed.

    Raises:
        TinycError: `InvalidOnnx`.
    """
    root = folder.resolve()
    try:
        path = (root / location).resolve()
    except (OSError, ValueError, RuntimeError):
        path = root.parent
    if not location or "\0" in location or not path.is_relative_to(root):
        raise TinycError("InvalidOnnx", f"tensor '{name}': its file {location!r} is not in the model's folder")
    return path
