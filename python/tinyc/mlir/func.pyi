"""Types of the bindings' `func` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

class CallIndirectOp(ir.OpView):
    def __init__(
        self,
        results_: Sequence[ir.Type],
        callee: ir.Value,
        callee_operands: Sequence[ir.Value],
        *,
        arg_attrs: ir.ArrayAttr | None = ...,
        res_attrs: ir.ArrayAttr | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def callee(self) -> ir.Value: ...
    @property
    def callee_operands(self) -> Sequence[ir.Value]: ...
    @property
    def arg_attrs(self) -> ir.ArrayAttr | None: ...
    @property
    def res_attrs(self) -> ir.ArrayAttr | None: ...
    @property
    def results_(self) -> Sequence[ir.OpResult]: ...

class ReturnOp(ir.OpView):
    def __init__(
        self, operands_: Sequence[ir.Value], *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> None: ...
    @property
    def operands_(self) -> Sequence[ir.Value]: ...

def call_indirect(
    results_: Sequence[ir.Type],
    callee: ir.Value,
    callee_operands: Sequence[ir.Value],
    *,
    arg_attrs: ir.ArrayAttr | None = ...,
    res_attrs: ir.ArrayAttr | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def call(
    result: Sequence[ir.Type],
    callee: str | ir.FlatSymbolRefAttr,
    operands_: Sequence[ir.Value],
    *,
    arg_attrs: ir.ArrayAttr | None = ...,
    res_attrs: ir.ArrayAttr | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...

class CallOp(ir.OpView):
    def __init__(
        self,
        result: Sequence[ir.Type],
        callee: str | ir.FlatSymbolRefAttr,
        operands_: Sequence[ir.Value],
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def callee(self) -> ir.FlatSymbolRefAttr: ...
    @property
    def operands_(self) -> Sequence[ir.Value]: ...

class FuncOp(ir.OpView):
    def __init__(
        self,
        name: str,
        type: ir.FunctionType | tuple[Sequence[ir.Type], Sequence[ir.Type]],
        *,
        visibility: str | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def name(self) -> ir.StringAttr: ...
    @property
    def sym_name(self) -> ir.StringAttr: ...
    @property
    def function_type(self) -> ir.TypeAttr: ...
    @property
    def type(self) -> ir.FunctionType: ...
    @property
    def is_external(self) -> bool: ...
    @property
    def body(self) -> ir.Region: ...
    @property
    def entry_block(self) -> ir.Block: ...
    @property
    def arguments(self) -> Sequence[ir.BlockArgument]: ...
    arg_attrs: ir.ArrayAttr | Sequence[ir.Attribute]
    result_attrs: ir.ArrayAttr | Sequence[ir.Attribute]
    def add_entry_block(self, arg_locs: Sequence[ir.Location] | None = ...) -> ir.Block: ...
