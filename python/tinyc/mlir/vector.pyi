"""Types of the bindings' `vector` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

class LoadOp(ir.OpView):
    @property
    def indices(self) -> Sequence[ir.Value]: ...
    @property
    def result(self) -> ir.OpResult: ...

def bitcast(
    result: ir.Type, source: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> ir.OpResult: ...
def broadcast(
    vector: ir.Type, source: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
) -> ir.OpResult: ...
def create_mask(
    result: ir.Type,
    operands_: Sequence[ir.Value],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def fma(
    lhs: ir.Value,
    rhs: ir.Value,
    acc: ir.Value,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def load(
    result: ir.Type,
    base: ir.Value,
    indices: Sequence[ir.Value],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def maskedload(
    result: ir.Type,
    base: ir.Value,
    indices: Sequence[ir.Value],
    mask: ir.Value,
    pass_thru: ir.Value,
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def shuffle(
    v1: ir.Value,
    v2: ir.Value,
    mask: Sequence[int],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> ir.OpResult: ...
def store(
    valueToStore: ir.Value,
    base: ir.Value,
    indices: Sequence[ir.Value],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> None: ...
