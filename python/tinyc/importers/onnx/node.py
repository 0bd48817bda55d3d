"""One node of an ONNX graph as its handler sees it: inputs, attributes, and ops to add.

A handler is a function of an `OnnxNode` that returns the node's outputs, one value or a tuple of them; `HANDLERS` of
each file has those of its op types. A node's attributes that no handler has asked for are errors.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from tinyc.diagnostics import TinycError, Where
from tinyc.expr.assumption import Assumption
from tinyc.expr.extents import Dim, Extent, bind_option
from tinyc.formulas.registry import schema_named
from tinyc.importers.onnx.program import FrontendProgram
from tinyc.importers.onnx.values import Known, OnnxValue, Tensor
from tinyc.vocabulary.element_type import ElementType
from tinyc.vocabulary.types import TensorType

#: Of larger numbers f32 has not each.
_MAX_WHOLE_F32 = 2**24

Handler: TypeAlias = Callable[["OnnxNode"], OnnxValue | tuple[OnnxValue, ...]]


class OnnxNode:
    """A node: `version` is the opset of its domain, `outputs` are names, "" where one is not wanted."""

    def __init__(
        self,
        program: FrontendProgram,
        op_type: str,
        version: int,
        inputs: Sequence[OnnxValue | None],
        outputs: Sequence[str],
        attributes: Mapping[str, Any],
        where: Where,
    ) -> None:
        self.program, self.op_type, self.version, self.where = program, op_type, version, where
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self._attributes = attributes
        self.asked: set[str] = set()

    # --- what is given ------------------------------------------------------------------------------------------------

    def has(self, position: int) -> bool:
        """Whether an input is there."""
        return position < len(self.inputs) and self.inputs[position] is not None

    def input(self, position: int) -> OnnxValue:
        """An input.

        Raises:
            TinycError: `MissingArgument`.
        """
        value = self.inputs[position] if position < len(self.inputs) else None
        if value is None:
            raise TinycError("MissingArgument", f"{self.op_type} needs input {position}, and the node has none there")
        return value

    def tensor(self, position: int) -> Tensor:
        """An input as a value of the program: one that is known becomes a constant."""
        return self.as_tensor(self.input(position))

    def optional(self, position: int) -> Tensor | None:
        """An input as a value of the program, None where it is left out."""
        return self.tensor(position) if self.has(position) else None

    def known(self, position: int, count: int | None = None) -> Known:
        """An input that has to be known at import, and of so many elements, where a `count` is given.

        Raises:
            TinycError: `UnboundInput`: it depends on inputs of the graph; `UnsupportedOnnx`: it is computed when the
                model runs, and depends on none; `ShapeContradiction`: it has not as many elements.
        """
        value = self.input(position)
        if isinstance(value, Known):
            if count not in (None, value.array.size):
                message = f"{self.op_type}: input {position} has {value.array.size} elements; it must have {count}"
                raise TinycError("ShapeContradiction", message)
            return value
        names = self.program.inputs_of(value.number)
        if not names:
            message = f"input {position} is computed when the model runs; it must be a constant or follow from shapes, "
            raise self.unsupported(message + "of which dynamic ones may have to be bound: --bind NAME=SIZE")
        self.program.asked.update(dict.fromkeys(names))
        shown = ", ".join(repr(each) for each in names[:8])
        message = (
            f"{self.op_type}: input {position} must be known when the model is imported, and depends on the input "
        )
        message += f"{shown}; give its value: compile(…, constants={{{names[0]!r}: …}}), or --constant {names[0]}=…"
        raise TinycError("UnboundInput", message)

    def dims(self, position: int, count: int | None = None) -> tuple[Dim, ...]:
        """The elements of an input that has to be known, as extents."""
        return self.known(position, count).dims()

    def ints(self, position: int, count: int | None = None) -> tuple[int, ...]:
        """The elements of an input that has to be known, as numbers.

        Raises:
            TinycError: `UnsupportedOnnx`: one depends on a dynamic extent.
        """
        dims = self.dims(position, count)
        symbolic = [each for each in dims if not isinstance(each, int)]
        if symbolic:
            message = f"input {position} is {symbolic[0]}, which must be a number when the model is imported; bind it: "
            raise self.unsupported(message + bind_option(symbolic[0]))
        return tuple(each for each in dims if isinstance(each, int))

    def floats(self, position: int, count: int | None = None) -> tuple[float, ...]:
        """The elements of an input that has to be known, as floats.

        Raises:
            TinycError: `UnsupportedOnnx`: one depends on a dynamic extent.
        """
        known = self.known(position, count)
        return tuple(map(float, self.ints(position) if known.is_symbolic else known.array.ravel().tolist()))

    def attribute(self, name: str, default: Any = None) -> Any:
        """An attribute as Python has it (texts as `str`, lists as tuples, tensors as arrays), or the default."""
        self.asked.add(name)
        return self._attributes.get(name, default)

    def required(self, name: str) -> Any:
        """An attribute that must be there.

        Raises:
            TinycError: `MissingArgument`.
        """
        if name not in self._attributes:
            raise TinycError("MissingArgument", f"{self.op_type} needs the attribute '{name}'")
        return self.attribute(name)

    @property
    def unread(self) -> list[str]:
        """The attributes that nobody has asked for."""
        return [name for name in self._attributes if name not in self.asked]

    def unsupported(self, message: str) -> TinycError:
        """The error for what ONNX allows and tinyc does not do."""
        return TinycError("UnsupportedOnnx", f"{self.op_type}: {message}")

    def assume_exact(self, numbers: Iterable[Any]) -> None:
        """Assume of extents that the model has as f32 that they are whole numbers in it: at most 2^24."""
        for each in numbers:
            if isinstance(each, Extent):
                self.program.assumptions[Assumption(each, "le", _MAX_WHOLE_F32, self.where)] = None

    # --- what is added ------------------------------------------------------------------------------------------------

    def add(self, op: str, *operands: Tensor | None, **attributes: Any) -> Tensor:
        """Add a Frontend op, `add("softmax", x, axis=1)` or `add("elementwise gelu", x)`; the first result of it."""
        return self.add_all(op, *operands, **attributes)[0]

    def add_all(self, op: str, *operands: Tensor | None, **attributes: Any) -> tuple[Tensor, ...]:
        """Add a Frontend op and return all of its results."""
        schema = schema_named(op)
        given = {name: each.number for name, each in schema.by_name(operands).items()}
        attributes = {key: value for key, value in attributes.items() if value is not None}
        first = self.program.add(schema, given, attributes, self.where)
        types = self.program.types[first : first + schema.results]
        return tuple(Tensor(first + position, each) for position, each in enumerate(types))

    def full(self, number: bool | int | float, element: ElementType, shape: Sequence[Dim] = ()) -> Tensor:
        """A tensor of one number."""
        tensor = TensorType(element, tuple(shape))
        return Tensor(self.program.constant(number, tensor, self.where), tensor)

    def as_tensor(self, value: OnnxValue) -> Tensor:
        """A value as one of the program; extents that are not known before the run are computed."""
        if isinstance(value, Tensor):
            return value
        tensor = TensorType(value.element, value.shape)
        if value.is_symbolic:
            extents = self.add("extents", dims=value.dims(), element=value.element)
            return self.add("movement reshape", extents, shape=value.shape)
        held = self.program.constants.get(id(value))
        if held is not None:
            return Tensor(held[1], tensor)
        array = value.array
        is_uniform = 0 < array.size <= 64 and array.tobytes() == array.flat[0].tobytes() * array.size  # -0 is not 0
        held = array.flat[0].item() if is_uniform else np.ascontiguousarray(array)
        where = self.where if value.name is None else replace(self.where, node=value.name)
        number = self.program.constant(held, tensor, where)
        if value.name is not None:
            self.program.names[number] = value.name
        self.program.constants[id(value)] = value, number
        return Tensor(number, tensor)
