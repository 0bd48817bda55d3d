"""Types of the bindings' `dialects.ext`, by which dialects are defined in Python, as far as tinyc uses it.

A field of an op reads as what it holds: `ext.Operand[Any]` is an `ir.Value`, an attribute is of its annotated class.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, Self, TypeVar

from tinyc.mlir import ir

_Constraint = TypeVar("_Constraint")

class Operand(ir.Value, Generic[_Constraint]): ...
class Result(ir.OpResult, Generic[_Constraint]): ...
class Region(ir.Region): ...

class FieldDef:
    name: str
    default_factory: Callable[[], Any] | None

class OperandDef(FieldDef): ...
class ResultDef(FieldDef): ...
class RegionDef(FieldDef): ...

class AttributeDef(FieldDef):
    process_attr: Callable[[Any, Any], Any]

def partition_fields(
    fields: Sequence[FieldDef],
) -> tuple[list[OperandDef], list[AttributeDef], list[ResultDef], list[RegionDef]]: ...
def operand(*, kw_only: bool = ...) -> Any: ...
def result(*, default_factory: Callable[[], ir.Type] | None = ..., kw_only: bool = ...) -> Any: ...
def attribute(*, default_factory: Callable[[], ir.Attribute] | None = ..., kw_only: bool = ...) -> Any: ...

class Operation(ir.OpView):
    _fields: ClassVar[list[FieldDef]]
    _op_name: ClassVar[str]
    def __init__(self, *fields: Any, **named: Any) -> None: ...
    @classmethod
    def __init_subclass__(cls, *, name: str | None = ..., traits: list[type] | None = ...) -> None: ...

class Type(ir.Type):
    @property
    def params(self) -> list[ir.Attribute]: ...
    @classmethod
    def get(cls, *parameters: Any) -> Self: ...
    @classmethod
    def __init_subclass__(cls, *, name: str | None = ...) -> None: ...

class Attribute(ir.Attribute):
    @property
    def params(self) -> list[ir.Attribute]: ...
    @classmethod
    def get(cls, *parameters: Any) -> Self: ...
    @classmethod
    def __init_subclass__(cls, *, name: str | None = ...) -> None: ...

class Dialect:
    DIALECT_NAMESPACE: ClassVar[str]
    operations: ClassVar[list[type[Operation]]]
    _mlir_module: ClassVar[ir.Module]
    Operation: ClassVar[type[Operation]]
    Type: ClassVar[type[Type]]
    Attribute: ClassVar[type[Attribute]]
    @classmethod
    def load(cls, register: bool = ..., reload: bool = ...) -> None: ...
    @classmethod
    def __init_subclass__(cls, *, name: str | None = ...) -> None: ...
