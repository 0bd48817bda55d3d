"""Types of the bindings' `vector` dialect, as far as tinyc uses it."""

from collections.abc import Sequence

from tinyc.mlir import ir

def broadcast(
    vector: ir.Type, source: ir.Value, *, loc: ir.Location | None = ..., ip: ir.InsertionPoint | None = ...
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
def store(
    valueToStore: ir.Value,
    base: ir.Value,
    indices: Sequence[ir.Value],
    *,
    loc: ir.Location | None = ...,
    ip: ir.InsertionPoint | None = ...,
) -> None: ...
