"""Types of the bindings' `memref` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

class CastOp(ir.OpView):
    @property
    def source(self) -> ir.Value: ...
    @property
    def result(self) -> ir.OpResult: ...

class ExtractAlignedPointerAsIndexOp(ir.OpView):
    @property
    def source(self) -> ir.Value: ...
    @property
    def result(self) -> ir.OpResult: ...

class LoadOp(ir.OpView):
    def __init__(
        self,
        memref: ir.Value,
        indices: Sequence[ir.Value],
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def memref(self) -> ir.Value: ...
    @property
    def indices(self) -> Sequence[ir.Value]: ...
    @property
    def result(self) -> ir.OpResult: ...

class AllocaOp(ir.OpView):
    def __init__(
        self,
        memref: ir.Type,
        dynamicSizes: Sequence[ir.Value],
        symbolOperands: Sequence[ir.Value],
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def dynamicSizes(self) -> Sequence[ir.Value]: ...
    @property
    def symbolOperands(self) -> Sequence[ir.Value]: ...
    @property
    def memref(self) -> ir.OpResult: ...

class DimOp(ir.OpView):
    def __init__(
        self, source: ir.Value, index: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
    ) -> None: ...
    @property
    def source(self) -> ir.Value: ...
    @property
    def index(self) -> ir.Value: ...
    @property
    def result(self) -> ir.OpResult: ...

class GetGlobalOp(ir.OpView):
    def __init__(
        self,
        result: ir.Type,
        name: str | ir.FlatSymbolRefAttr,
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def name(self) -> ir.FlatSymbolRefAttr: ...
    @property
    def result(self) -> ir.OpResult: ...

class GlobalOp(ir.OpView):
    def __init__(
        self,
        sym_name: str | ir.StringAttr,
        type_: ir.TypeAttr,
        *,
        sym_visibility: str | ir.StringAttr | None = ...,
        initial_value: ir.Attribute | None = ...,
        constant: bool | None = ...,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def sym_name(self) -> ir.StringAttr: ...
    @property
    def sym_visibility(self) -> ir.StringAttr | None: ...
    @property
    def type_(self) -> ir.TypeAttr: ...
    @property
    def initial_value(self) -> ir.Attribute | None: ...
    @property
    def constant(self) -> bool: ...

class PrefetchOp(ir.OpView):
    @property
    def indices(self) -> Sequence[ir.Value]: ...

class ReinterpretCastOp(ir.OpView):
    @property
    def source(self) -> ir.Value: ...
    @property
    def sizes(self) -> Sequence[ir.Value]: ...
    @property
    def result(self) -> ir.OpResult: ...

class StoreOp(ir.OpView):
    def __init__(
        self,
        value: ir.Value,
        memref: ir.Value,
        indices: Sequence[ir.Value],
        *,
        loc: ir.Location | None = ...,
        ip: ir.InsertionPoint | None = ...,
    ) -> None: ...
    @property
    def value(self) -> ir.Value: ...
    @property
    def memref(self) -> ir.Value: ...
    @property
    def indices(self) -> Sequence[ir.Value]: ...

def load(
    memref: ir.Value, indices: Sequence[ir.Value], *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> ir.OpResult: ...
def alloca(
    memref: ir.Type,
    dynamic_sizes: Sequence[ir.Value],
    symbol_operands: Sequence[ir.Value],
    *,
    alignment: int | None = ...,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def get_global(
    result: ir.Type,
    name: str | ir.FlatSymbolRefAttr,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def extract_aligned_pointer_as_index(
    source: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> ir.OpResult: ...
def prefetch(
    memref: ir.Value,
    indices: Sequence[ir.Value],
    is_write: bool,
    locality_hint: int,
    is_data_cache: bool,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpView: ...
def reinterpret_cast(
    result: ir.Type,
    source: ir.Value,
    offsets: Sequence[ir.Value],
    sizes: Sequence[ir.Value],
    strides: Sequence[ir.Value],
    static_offsets: Sequence[int],
    static_sizes: Sequence[int],
    static_strides: Sequence[int],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def store(
    value: ir.Value,
    memref: ir.Value,
    indices: Sequence[ir.Value],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> StoreOp: ...
