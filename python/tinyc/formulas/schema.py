"""What an op of the Frontend layer takes: operands and attributes, read off the signature of its formula.

A formula is a function of values that adds the Tiny ops of a Frontend op. Its positional parameters are the operands
(`Value`, or `Value | None = None` where it may be left out), its keyword parameters the attributes, with their types
and defaults, and it returns the result, or a tuple of results:

    def conv(x: Value, w: Value, bias: Value | None = None, *, strides: tuple[int, ...] = (), groups: int = 1) -> Value:

So the signature is the one place that says what the op is: the verifier, the importers and the lowering read it here.
"""

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import NoneType, UnionType
from typing import Any, TypeAlias, TypeVar, get_args, get_origin

from tinyc.diagnostics import TinycError
from tinyc.expr.extents import Dim
from tinyc.formulas.value import Builder, Value
from tinyc.vocabulary.element_type import ElementType

Function: TypeAlias = Callable[..., Value | tuple[Value, ...]]
_Entry = TypeVar("_Entry")
_Operand = TypeVar("_Operand")


class AttributeKind(Enum):
    """What an attribute holds."""

    BOOL = auto()
    INT = auto()
    FLOAT = auto()
    TEXT = auto()
    ELEMENT = auto()
    INTS = auto()
    FLOATS = auto()
    TEXTS = auto()
    DIMS = auto()


_SCALARS = {
    bool: AttributeKind.BOOL,
    int: AttributeKind.INT,
    float: AttributeKind.FLOAT,
    str: AttributeKind.TEXT,
    ElementType: AttributeKind.ELEMENT,
}
_LISTS = {int: AttributeKind.INTS, float: AttributeKind.FLOATS, str: AttributeKind.TEXTS, Dim: AttributeKind.DIMS}


@dataclass(frozen=True)
class AttributeSchema:
    """An attribute: its name, what it holds, its default; without one (`is_required`) it must be given."""

    name: str
    kind: AttributeKind
    is_required: bool
    default: Any


@dataclass(frozen=True)
class Schema:
    """An op of the Frontend layer, or one choice of its selector (`fn = "gelu"`), with the formula that it means.

    Of `operands` the first `required` must be there; `results` is how many there are. A formula without operands, which
    nothing else tells where to add its steps, has a keyword parameter of type `Builder` (`needs_builder`).
    """

    op: str
    choice: str | None
    operands: tuple[str, ...]
    required: int
    results: int
    needs_builder: bool
    attributes: Mapping[str, AttributeSchema]
    function: Function

    @property
    def name(self) -> str:
        """What messages call it: `conv`, `elementwise gelu`."""
        return self.op if self.choice is None else f"{self.op} {self.choice}"

    @property
    def doc(self) -> str:
        """What it computes."""
        return inspect.getdoc(self.function) or ""

    def by_name(self, operands: Sequence[_Operand | None]) -> dict[str, _Operand]:
        """Operands in the order of the formula, by their names; None is one that is left out.

        Raises:
            ValueError: there are more than the formula has.
        """
        names = self.operands[: len(operands)]
        return {name: each for name, each in zip(names, operands, strict=True) if each is not None}

    def bind(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All attributes by name, those that are not given at their defaults.

        Raises:
            TinycError: `InvalidAttribute`.
        """
        unknown = [name for name in values if name not in self.attributes]
        if unknown:
            known = ", ".join(self.attributes) or "none"
            raise TinycError("InvalidAttribute", f"{self.name} has no attribute '{unknown[0]}'; it has {known}")
        missing = [each.name for each in self.attributes.values() if each.is_required and each.name not in values]
        if missing:
            raise TinycError("InvalidAttribute", f"{self.name} needs the attribute '{missing[0]}'")
        return {name: values.get(name, each.default) for name, each in self.attributes.items()}

    def check_operands(self, names: Collection[str]) -> None:
        """Check that operands of these names may be there.

        Raises:
            TinycError: `InvalidAttribute`.
        """
        if not {*self.operands[: self.required]} <= {*names} <= {*self.operands}:
            optional = ", ".join(f"{each}?" for each in self.operands[self.required :])
            expected = ", ".join(filter(None, (*self.operands[: self.required], optional)))
            given = ", ".join(names) or "none"
            raise TinycError("InvalidAttribute", f"{self.name} takes the operands {expected}, and is given {given}")


def by_choice(
    tables: Iterable[Mapping[str, _Entry | Mapping[str, _Entry]]],
) -> Iterator[tuple[str, str | None, _Entry]]:
    """Each op of tables with a choice of its selector, None where it has none, and the entry for them."""
    for table in tables:
        for op, entry in table.items():
            if isinstance(entry, Mapping):
                yield from ((op, choice, each) for choice, each in entry.items())
            else:
                yield op, None, entry


def schema_of(op: str, choice: str | None, function: Function) -> Schema:
    """The schema that a formula's signature says."""
    operands: list[str] = []
    required, needs_builder = 0, False
    attributes: dict[str, AttributeSchema] = {}
    signature = inspect.signature(function)
    for name, parameter in signature.parameters.items():
        is_required = parameter.default is inspect.Parameter.empty
        if parameter.annotation is Builder:
            needs_builder = True
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            default = None if is_required else parameter.default
            attributes[name] = AttributeSchema(name, _kind(parameter.annotation), is_required, default)
        else:
            operands.append(name)
            required += is_required
    returned = signature.return_annotation
    results = len(get_args(returned)) if get_origin(returned) is tuple else 1
    return Schema(op, choice, tuple(operands), required, results, needs_builder, attributes, function)


def _kind(annotation: Any) -> AttributeKind:
    """What an annotation says that an attribute holds; `None` beside it is for one that is left out."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    if isinstance(annotation, UnionType):
        (held,) = (each for each in get_args(annotation) if each is not NoneType)
        return _kind(held)
    assert get_origin(annotation) is tuple, annotation
    return _LISTS[get_args(annotation)[0]]
