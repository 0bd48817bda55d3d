"""Types of the bindings' `gpu` dialect, as far as tinyc uses it."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol

from tinyc.mlir import ir

class Dimension(IntEnum):
    x = ...
    y = ...
    z = ...

class ObjectAttr(ir.Attribute):
    @staticmethod
    def get(
        target: ir.Attribute,
        format: int,
        object: bytes,
        properties: ir.DictAttr | None = ...,
        kernels: ir.Attribute | None = ...,
        context: ir.Context | None = ...,
    ) -> ObjectAttr: ...
    @property
    def target(self) -> ir.Attribute: ...
    @property
    def format(self) -> int: ...
    @property
    def object(self) -> bytes: ...

class BarrierOp(ir.OpView):
    def __init__(self, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...) -> None: ...

class BinaryOp(ir.OpView):
    def __init__(
        self,
        sym_name: str | ir.StringAttr,
        objects: ir.ArrayAttr,
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def sym_name(self) -> ir.StringAttr: ...
    @property
    def objects(self) -> ir.ArrayAttr: ...

class _Position(ir.OpView):
    def __init__(
        self, dimension: Dimension | ir.Attribute, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> None: ...
    @property
    def dimension(self) -> ir.Attribute: ...

class BlockDimOp(_Position): ...
class BlockIdOp(_Position): ...
class GridDimOp(_Position): ...
class ThreadIdOp(_Position): ...

class GPUFuncOp(ir.OpView):
    def __init__(
        self,
        function_type: ir.FunctionType | ir.TypeAttr,
        sym_name: str | ir.StringAttr | None = ...,
        arg_attrs: ir.ArrayAttr | None = ...,
        res_attrs: ir.ArrayAttr | None = ...,
        kernel: bool | None = ...,
        *,
        known_block_size: Sequence[int] | ir.DenseI32ArrayAttr | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def arg_attrs(self) -> ir.ArrayAttr | None: ...
    @property
    def body(self) -> ir.Region: ...
    @property
    def entry_block(self) -> ir.Block: ...
    @property
    def function_type(self) -> ir.TypeAttr: ...
    @property
    def kernel(self) -> bool: ...
    @property
    def known_block_size(self) -> ir.DenseI32ArrayAttr | None: ...
    @property
    def res_attrs(self) -> ir.ArrayAttr | None: ...
    @property
    def name(self) -> ir.StringAttr: ...  # type: ignore[override]  # not that of the op
    @property
    def sym_name(self) -> ir.StringAttr: ...
    def add_entry_block(self) -> ir.Block: ...

class GPUModuleOp(ir.OpView):
    def __init__(
        self,
        sym_name: str | ir.StringAttr,
        *,
        targets: ir.ArrayAttr | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def sym_name(self) -> ir.StringAttr: ...
    @property
    def targets(self) -> ir.ArrayAttr | None: ...
    @property
    def bodyRegion(self) -> ir.Region: ...

class ShuffleMode(IntEnum):
    XOR = ...
    UP = ...
    DOWN = ...
    IDX = ...

class ShuffleOp(ir.OpView):
    def __init__(
        self,
        value: ir.Value,
        offset: ir.Value,
        width: ir.Value,
        mode: ShuffleMode | ir.Attribute,
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def value(self) -> ir.Value: ...
    @property
    def offset(self) -> ir.Value: ...
    @property
    def width(self) -> ir.Value: ...
    @property
    def mode(self) -> ir.Attribute: ...
    @property
    def shuffleResult(self) -> ir.OpResult: ...
    @property
    def valid(self) -> ir.OpResult: ...

class ReturnOp(ir.OpView):
    def __init__(
        self, operands_: Sequence[ir.Value], *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> None: ...
    @property
    def operands_(self) -> Sequence[ir.Value]: ...

def barrier(*, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...) -> BarrierOp: ...
def binary(
    sym_name: str | ir.StringAttr,
    objects: ir.ArrayAttr,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> BinaryOp: ...

class _PositionBuilder(Protocol):
    def __call__(
        self, dimension: Dimension | ir.Attribute, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> ir.OpResult: ...

block_dim: _PositionBuilder
block_id: _PositionBuilder
grid_dim: _PositionBuilder
thread_id: _PositionBuilder

def func(
    function_type: ir.TypeAttr,
    *,
    arg_attrs: ir.ArrayAttr | None = ...,
    res_attrs: ir.ArrayAttr | None = ...,
    known_block_size: ir.DenseI32ArrayAttr | None = ...,
    kernel: bool | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> GPUFuncOp: ...
def module(
    sym_name: str | ir.StringAttr,
    *,
    targets: ir.ArrayAttr | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> GPUModuleOp: ...
