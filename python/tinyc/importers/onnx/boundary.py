"""What a graph takes and declares: inputs, symbols of their dynamic axes, values that are fixed, declared shapes."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import onnx

from tinyc.diagnostics import TinycError, suggest
from tinyc.expr import extents
from tinyc.expr.extents import MAX_EXTENT, Dim
from tinyc.importers.onnx.attributes import element_of_onnx
from tinyc.importers.onnx.values import Known, OnnxValue
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: How many letters a symbol has at the most: the model's texts of sizes stay short enough.
_MAX_LETTERS = 64


class InputSizes:
    """The extents of inputs: a dynamic axis is a symbol, named as the model names it as far as symbols have such names.

    `bind` has the values of symbols.
    """

    def __init__(self, inputs: Iterable[onnx.ValueInfoProto], bind: Mapping[str, int]) -> None:
        self._named: dict[str, Dim] = {}
        self._taken: set[str] = set()
        listed = list(inputs)
        texts = dict.fromkeys(dim.dim_param for each in listed for dim in each.type.tensor_type.shape.dim)
        extents_of = {text: found for text in texts if (found := _parsed(text)) is not None}
        self._taken.update(text for text, extent in extents_of.items() if extent == extents.symbol(text))
        # `batch-size` is a name; `past + 1` is a sum where some axis is `past`.
        self._named.update((t, e) for t, e in extents_of.items() if self._taken.issuperset(extents.symbols(e)))
        for each in listed:
            for at, dim in enumerate(each.type.tensor_type.shape.dim):
                if not dim.HasField("dim_value"):
                    self._name(_text(each.name, at, dim))
        self.bind = dict(bind)
        unknown = [name for name in bind if name not in self._taken]
        if unknown:
            shown = ", ".join(f"'{name}'" for name in sorted(self._taken)) or "none"
            raise TinycError("UnboundSymbol", f"bind: the program has no symbol '{unknown[0]}'; it has {shown}")

    def _name(self, text: str) -> None:
        """Give a name that is no symbol one that is."""
        if text in self._named:
            return
        name = wanted = _identifier(text)
        count = 1
        while name in self._taken:
            count += 1
            name = f"{wanted}_{count}"
        self._taken.add(name)
        self._named[text] = extents.symbol(name)

    def input_type(self, value: onnx.ValueInfoProto) -> TensorType:
        """The type of an input.

        Raises:
            TinycError: `UnsupportedOnnx`, `InvalidExtent`.
        """
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            described = (kind or "nothing").removesuffix("_type").replace("_", " ")
            raise TinycError("UnsupportedOnnx", f"input '{value.name}' is of kind {described}; tinyc takes tensors")
        tensor = value.type.tensor_type
        element = element_of_onnx(tensor.elem_type)
        if not tensor.HasField("shape"):
            raise TinycError("UnsupportedOnnx", f"input '{value.name}' has no shape; state its rank")
        dims = [self._bound(value.name, at, self._dim(value.name, at, dim)) for at, dim in enumerate(tensor.shape.dim)]
        return TensorType(element, tuple(dims))

    def _dim(self, name: str, axis: int, dim: onnx.TensorShapeProto.Dimension) -> Dim:
        return dim.dim_value if dim.HasField("dim_value") else self._named[_text(name, axis, dim)]

    def _bound(self, name: str, axis: int, dim: Dim) -> Dim:
        try:
            found = extents.substitute(dim, self.bind)
        except extents.ExtentError as error:
            raise TinycError("InvalidExtent", f"axis {axis} of '{name}' is {dim}: {error}; bind other sizes") from None
        if isinstance(found, int) and not 0 <= found <= MAX_EXTENT:
            raise TinycError("InvalidExtent", f"axis {axis} of '{name}' is {found}; an extent is one of 0 … 2^63 - 1")
        return found

    def solve(self, name: str, tensor: TensorType, shape: tuple[int, ...]) -> None:
        """Bind the symbols of an input whose shape is known.

        Raises:
            TinycError: `ShapeContradiction`.
        """
        if len(shape) != tensor.rank or any(map(extents.differ, tensor.shape, shape)):
            message = f"the value of '{name}' has the shape {list(shape)}; the model declares {tensor}"
            raise TinycError("ShapeContradiction", message)
        for dim, extent in zip(tensor.shape, shape, strict=True):
            names = extents.symbols(dim)
            if names and dim == extents.symbol(names[0]):
                self.bind[names[0]] = extent

    def check_declared(self, declared: onnx.ValueInfoProto, value: OnnxValue) -> None:
        """Check that a value is what the model declares; extents that may be equal are taken to be.

        Raises:
            TinycError: `ShapeContradiction`, `DtypeMismatch`.
        """
        kind = declared.type.WhichOneof("value")
        if kind is None:
            return
        if kind != "tensor_type":
            described = kind.removesuffix("_type").replace("_", " ")
            message = f"'{declared.name}' is declared to be of kind {described}, and is a tensor"
            raise TinycError("DtypeMismatch", message)
        tensor = declared.type.tensor_type
        if tensor.elem_type and element_of_onnx(tensor.elem_type) != value.element:
            element = element_of_onnx(tensor.elem_type)
            message = f"'{declared.name}' is declared {element.json_name}, and is {value.element.json_name}"
            raise TinycError("DtypeMismatch", message)
        if not tensor.HasField("shape"):
            return
        dims = [self._declared_dim(dim) for dim in tensor.shape.dim]
        if len(dims) != value.rank or any(
            dim is not None and extents.differ(dim, found) for dim, found in zip(dims, value.shape, strict=True)
        ):
            written = ", ".join("?" if dim is None else str(dim) for dim in dims)
            found = ", ".join(map(str, value.shape))
            message = f"'{declared.name}' is declared of shape [{written}], and is of [{found}]"
            raise TinycError("ShapeContradiction", f"{message}; infer the shapes of the model again")

    def _declared_dim(self, dim: onnx.TensorShapeProto.Dimension) -> Dim | None:
        """An extent, None where it is a name that no input has."""
        if dim.HasField("dim_value"):
            return dim.dim_value
        known = self._named.get(dim.dim_param) if dim.dim_param else None
        return None if known is None else extents.substitute(known, self.bind)


def _text(name: str, axis: int, dim: onnx.TensorShapeProto.Dimension) -> str:
    """What a dynamic axis is called; one without a name gets one."""
    return dim.dim_param or f"{name}_{axis}"


def _parsed(text: str) -> Dim | None:
    """The extent that a text reads as."""
    try:
        found = extents.parse_extent(text) if text else None
    except extents.ExtentError:
        return None
    is_short = found is None or all(len(name) <= _MAX_LETTERS for name in extents.symbols(found))
    return found if is_short else None


def _identifier(text: str) -> str:
    """A symbol for the name of an axis, which may be any text."""
    cleaned = "".join(
        each if each.isascii() and (each.isalnum() or each == "_") else "_" for each in text[:_MAX_LETTERS]
    )
    return cleaned if cleaned[:1].isalpha() else f"d{cleaned}"


def fixed_value(name: str, value: Any, element: ElementType) -> Known:
    """The value that the user gives an input, in the input's element type.

    Raises:
        TinycError: `InputMismatch`: it is none of that type.
    """
    try:
        given = np.asarray(value)
        with np.errstate(all="ignore"):
            array = given.astype(element.dtype)
        is_exact = element.is_float or bool((array == given).all())
    except (TypeError, ValueError, OverflowError):
        given, array, is_exact = np.empty((), object), np.empty(()), True
    if given.dtype.kind not in "biuf" and given.dtype != element.dtype:
        raise TinycError(
            "InputMismatch", f"constants: the value of '{name}' is {value!r:.80}; give numbers, or an array"
        )
    if not is_exact:
        message = f"constants: the value of '{name}' is {value!r:.80}, and the input is {element.json_name}"
        raise TinycError("InputMismatch", f"{message}; give values of that type")
    return Known(array, element, name)


def check_constants(constants: Mapping[str, Any], inputs: Iterable[str]) -> None:
    """Check that what is fixed are inputs.

    Raises:
        TinycError: `UnknownName`.
    """
    known = list(inputs)
    unknown = [name for name in constants if name not in known]
    if unknown:
        raise TinycError(
            "UnknownName", f"constants: the model has no input {unknown[0]!r}{suggest(str(unknown[0]), known)}"
        )
