"""Types of the bindings' `llvm` dialect, as far as tinyc uses it."""

from collections.abc import Sequence
from enum import IntEnum

from tinyc.mlir import ir

class AtomicOrdering(IntEnum):
    monotonic = ...
    acquire = ...
    release = ...
    acq_rel = ...
    seq_cst = ...

class AtomicBinOp(IntEnum):
    add = ...
    fadd = ...

def call_intrinsic(
    results_: ir.Type | None,
    intrin: ir.StringAttr,
    args: Sequence[ir.Value],
    op_bundle_operands: Sequence[ir.Value],
    op_bundle_sizes: Sequence[int],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def inttoptr(
    res: ir.Type, arg: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> ir.OpResult: ...
def translate_module_to_llvmir(module: ir.Operation | ir.OpView) -> str: ...

class BrOp(ir.OpView): ...

class AtomicCmpXchgOp(ir.OpView):
    def __init__(
        self,
        ptr: ir.Value,
        cmp: ir.Value,
        val: ir.Value,
        success_ordering: AtomicOrdering,
        failure_ordering: AtomicOrdering,
        *,
        syncscope: str | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def ptr(self) -> ir.Value: ...
    @property
    def cmp(self) -> ir.Value: ...
    @property
    def val(self) -> ir.Value: ...
    @property
    def res(self) -> ir.OpResult: ...

class AtomicRMWOp(ir.OpView):
    def __init__(
        self,
        bin_op: AtomicBinOp,
        ptr: ir.Value,
        val: ir.Value,
        ordering: AtomicOrdering,
        *,
        syncscope: str | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def ptr(self) -> ir.Value: ...
    @property
    def val(self) -> ir.Value: ...
    @property
    def bin_op(self) -> ir.Attribute: ...
    @property
    def res(self) -> ir.OpResult: ...

class GlobalOp(ir.OpView):
    @property
    def sym_name(self) -> ir.StringAttr: ...

class InlineAsmOp(ir.OpView):
    @property
    def asm_string(self) -> ir.StringAttr: ...
    @property
    def constraints(self) -> ir.StringAttr: ...

class LLVMFuncOp(ir.OpView):
    def __init__(
        self,
        sym_name: str | ir.StringAttr,
        function_type: ir.TypeAttr,
        *,
        arg_attrs: ir.ArrayAttr | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def sym_name(self) -> ir.StringAttr: ...
    @property
    def function_type(self) -> ir.TypeAttr: ...
    @property
    def arg_attrs(self) -> ir.ArrayAttr | None: ...
    @property
    def body(self) -> ir.Region: ...

class ReturnOp(ir.OpView):
    def __init__(
        self, *, arg: ir.Value | None = ..., loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> None: ...

def alloca(
    res: ir.Type,
    array_size: ir.Value,
    elem_type: ir.Type | ir.TypeAttr,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def extractvalue(
    res: ir.Type,
    container: ir.Value,
    position: Sequence[int] | ir.DenseI64ArrayAttr,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def getelementptr(
    res: ir.Type,
    base: ir.Value,
    dynamic_indices: Sequence[ir.Value],
    raw_constant_indices: Sequence[int] | ir.DenseI32ArrayAttr,
    elem_type: ir.Type | ir.TypeAttr,
    no_wrap_flags: int | None,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def insertvalue(
    container: ir.Value,
    value: ir.Value,
    position: Sequence[int] | ir.DenseI64ArrayAttr,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def extractelement(
    vector: ir.Value,
    position: ir.Value,
    *,
    results: Sequence[ir.Type],
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def insertelement(
    vector: ir.Value,
    value: ir.Value,
    position: ir.Value,
    *,
    results: Sequence[ir.Type],
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def load(
    res: ir.Type,
    addr: ir.Value,
    *,
    alignment: int | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def mlir_addressof(
    res: ir.Type,
    global_name: str | ir.FlatSymbolRefAttr,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def mlir_global(
    global_type: ir.Type,
    sym_name: str,
    linkage: ir.Attribute,
    *,
    alignment: int | None = ...,
    addr_space: int | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> GlobalOp: ...
def mlir_poison(res: ir.Type, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...) -> ir.OpResult: ...
def store(
    value: ir.Value,
    addr: ir.Value,
    *,
    alignment: int | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpView: ...
def ptrtoint(
    res: ir.Type, arg: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> ir.Value: ...
